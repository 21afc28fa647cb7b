# --backend cuda: what loads the module, and what it says where it cannot.
$ PIPEEXEC_CUDA_MODULE=/nowhere/pipeexec-cuda.so pipeexec --backend cuda
! pipeexec: error: --backend cuda: cannot load /nowhere/pipeexec-cuda.so: cannot open shared object file: No such file or directory
!   PIPEEXEC_CUDA_MODULE names it; unset, it is the pipeexec-cuda.so of this build
!   --backend cpu needs no CUDA
= 1
$ PIPEEXEC_CUDA_MODULE=libm.so.6 pipeexec --backend cuda
! pipeexec: error: --backend cuda: libm.so.6 is no module of pipeexec (PIPEEXEC_CUDA_MODULE)
= 1
$ PIPEEXEC_CUDA_MODULE=/nowhere/pipeexec-cuda.so pipeexec --hidden 32 --seq 16 --steps 2 --quiet
$ pipeexec --device-mode streams
! pipeexec: error: --device-mode streams has no effect with --backend cpu: it says how ranks share a GPU
= 2
$ pipeexec --cuda-graphs off
! pipeexec: error: --cuda-graphs off has no effect with --backend cpu: graphs are those of CUDA
= 2
$ pipeexec --backend fake --cores 2
! pipeexec: error: --cores 2 has no effect with --backend fake: it says how many ops of ranks on CPUs compute at a time on the virtual clock
= 2
$ pipeexec --clock wall --cores 2
! pipeexec: error: --cores 2 has no effect with --clock wall: it says how many ops of ranks on CPUs compute at a time on the virtual clock
= 2
$ pipeexec --backend fake --device-mode serial
! pipeexec: error: --device-mode serial has no effect with --backend fake: it says how ranks share a GPU
= 2
$ pipeexec --backend fake --clock wall --slow 1=0.5
! pipeexec: error: --slow 1=0.5: on the wall clock backend fake cannot make a rank slower; give --clock virtual
= 2
