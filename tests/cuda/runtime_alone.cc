/* tests/cuda/runtime_alone.cc — a device that runs work without a synchronising host. So work that
 * other processes wait for is done, though slowly. */
#include "tests/cuda/runtime.h"

#include <algorithm>
#include <atomic>
#include <thread>

static const std::chrono::microseconds STEPS_APART(200);

/* Until the end of the process. */
struct device {
    std::mutex mutex;
    std::vector<bool (*)(void)> has_work;
    std::atomic<bool> is_on{true};
    std::thread thread;

    device(void) : thread([this] { run(); })
    {
    }
    ~device(void)
    {
        is_on = false;
        thread.join();
    }
    bool is_needed(void)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        return std::any_of(has_work.begin(), has_work.end(),
                           [](bool (*has)(void)) { return has(); });
    }
    void run(void)
    {
        while (is_on) {
            std::this_thread::sleep_for(STEPS_APART);
            pp_call([this](auto &lock) {
                if (is_needed())
                    pp_run_one(lock);
                return cudaSuccess;
            });
        }
    }
};

void pp_turn_on(bool (*has_work)(void))
{
    static struct device device;
    const std::lock_guard<std::mutex> lock(device.mutex);

    if (std::count(device.has_work.begin(), device.has_work.end(), has_work) == 0)
        device.has_work.push_back(has_work);
}
