# --backend cuda: what loads the module, and what it says where it cannot.
$ PIPEEXEC_CUDA_MODULE=/nowhere/pipeexec-cuda.so pipeexec --backend cuda
! pipeexec: error: --backend cuda: cannot load /nowhere/pipeexec-cuda.so: cannot open shared object file: No such file or directory
!   the module is built where nvcc is found: meson setup -Dcuda=enabled
!   --backend cpu needs no CUDA
= 1
$ PIPEEXEC_CUDA_MODULE=libm.so.6 pipeexec --backend cuda
! pipeexec: error: --backend cuda: libm.so.6 is no module of pipeexec (PIPEEXEC_CUDA_MODULE)
= 1
$ PIPEEXEC_CUDA_MODULE=/nowhere/pipeexec-cuda.so pipeexec --steps 2 --quiet
