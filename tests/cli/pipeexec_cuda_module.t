# The module that nvcc has made, where it sees no GPU: all of it is there and asks for a driver.
$ CUDA_VISIBLE_DEVICES= pipeexec --backend cuda 2>&1 | grep -c -E 'no NVIDIA driver|no GPU is visible'
> 1
