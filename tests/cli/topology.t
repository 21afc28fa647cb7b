# A cluster from measurements: the topology of a node, and runs of nccl-tests. The files of tests/data/topology have the form that the programs print, and were made from straight lines.
$ cd tests/data/topology; pipesim clusters --topo h100.txt --nccl-tests sendrecv_node.log --nccl-tests sendrecv_nodes.log --nccl-tests all_reduce_node.log | sed -n '1,2p; /^  in node/,/^  fabric/p; /^  found/,$p'
> h100 nvlink:417.4GBps@11.9us nic:8x49.02GBps latency:18.2us: 8 x H100-SXM 80GB a node
>   network  as given, other values from h100
>   in node  417 GB/s a device and direction, latency 11.9 us
>   fabric   49.0 GB/s a device and direction, latency 18.2 us, reached share 0.92
>   found    sendrecv_node.log: messages in a node take 11.9 us + bytes /
>            (384GBps); 9 sizes, median error 0.0 %
>            sendrecv_nodes.log: messages between nodes take 18.2 us + bytes /
>            (45.1GBps); 9 sizes, median error 0.0 %
>            h100.txt: 8 GPUs, 18 NVLinks each, all to all (a switch): 450GBps a
>            device and direction
>            h100.txt: 8 of 10 network cards are next to GPUs, one each: rails;
>            each of 50GBps, as h100 says
>            all_reduce_node.log: all_reduce of 1.00 GiB over 8 ranks on 1 node
>            took 5.24 ms; this cluster predicts 5.82 ms, +10.9 %
>   text     h100 nvlink:417.4GBps@11.9us nic:8x49.02GBps latency:18.2us
$ cd tests/data/topology; for file in h100 dgx1; do pipesim clusters --topo $file.txt | sed -n '/^  found/,$p'; done
>   found    h100.txt: devices with so many NVLinks are taken for h100; name a
>            cluster if they are others
>            h100.txt: 8 GPUs, 18 NVLinks each, all to all (a switch): 450GBps a
>            device and direction
>            h100.txt: 8 of 10 network cards are next to GPUs, one each: rails;
>            each of 50GBps, as h100 says
>   text     h100
>   found    dgx1.txt: devices with so many NVLinks are taken for v100-dgx1; name
>            a cluster if they are others
>            dgx1.txt: 8 GPUs, 6 NVLinks each in a mesh: 150GBps a device and
>            direction
>            dgx1.txt: 4 of 4 network cards are next to GPUs; each of 12.5GBps, as
>            v100-dgx1 says
>   text     v100-dgx1
# The device is named by no input, or by one.
$ cd tests/data/topology; pipesim clusters --topo pcie.txt
! pipesim: error: no input names the devices: name a cluster to start from, as in 'pipesim clusters a100 --topo FILE'
= 2
$ cd tests/data/topology; pipesim clusters a100 --topo pcie.txt | sed -n '/^  found/,$p; /^  in node/p'
>   in node  25.0 GB/s a device and direction, latency 2.03 us, through host memory
>   found    pcie.txt: 4 GPUs, no NVLink: they meet in the host's memory
>            pcie.txt: 1 of 1 network cards are counted, though none is next to a
>            GPU; each of 25GBps, as a100 says
>   text     a100 pcie:25GBps gpu:4 nic:1x25GBps
$ cd tests/data/topology; pipesim clusters "b200 nic:8x800Gbps" --topo h100.txt | sed -n '/^  found/,$p'
>   found    h100.txt: 8 GPUs, 18 NVLinks each, all to all (a switch): 900GBps a
>            device and direction
>            h100.txt: 8 of 10 network cards are next to GPUs, one each: rails;
>            each of 100GBps, as b200 nic:8x800Gbps says
>   text     b200 nic:8x800Gbps
# A latency in the node above that of the network, which was not measured.
$ cd tests/data/topology; pipesim clusters --topo h100.txt --nccl-tests sendrecv_node.log | sed -n '/latency in/,$p'
>            the latency in a node is above that between nodes (8 us, not
>            measured): links of devices get that one, so measure both
>   text     h100 nvlink:417.4GBps@11.9us
# The text is one for --cluster; so is the platform, in which latencies and bandwidths are those of the text.
$ cd tests/data/topology; pipesim clusters --topo h100.txt --nccl-tests sendrecv_node.log -o $TMPDIR/my.txt >$TMPDIR/log; cat $TMPDIR/my.txt; pipesim --schedule 1f1b --gpus 64 --cluster "$(cat $TMPDIR/my.txt)" --no-alternatives --engine dag | grep cluster
> h100 nvlink:417.4GBps@11.9us
>   cluster  h100 nvlink:417.4GBps@11.9us  8 nodes x 8 H100-SXM 80GB, as given,
$ cd tests/data/topology; logs='--nccl-tests sendrecv_node.log --nccl-tests sendrecv_nodes.log'; pipesim clusters --topo h100.txt $logs -o $TMPDIR/my.xml --gpus 64 >$TMPDIR/log; grep -E 'eta_link|level' $TMPDIR/my.xml; pipesim clusters --topo h100.txt $logs --xml --gpus 64 | cmp - $TMPDIR/my.xml
>   <!-- SimGrid gives all links the same speed; with the levels in the properties,
>       <prop id="pipesim.eta_link" value="0.92"/>
>       <prop id="pipesim.level1.bandwidth" value="417.4GBps"/>
>       <prop id="pipesim.level1.latency" value="5.95us"/>
>       <prop id="pipesim.level2.bandwidth" value="49.02GBps"/>
>       <prop id="pipesim.level2.latency" value="3.1499999999999995e-06s"/>
$ cd tests/data/topology; pipesim clusters --topo h100.txt -o -
> h100
# The same for a link that is given with its latency.
$ pipesim clusters "nvlink:300GBps@5us" | grep '^  in node'
>   in node  300 GB/s a device and direction, latency 5 us
$ pipesim clusters "nvlink:300GBps@" 2>&1 | cut -c -100
> pipesim: error: --cluster: nvlink:300GBps@: "" is not a time such as 11.9us, 3 ms, 2s or 1h (as in n
$ pipesim clusters "pcie:30GBps@20s"
! pipesim: error: --cluster: pcie:30GBps@20s: 20s is out of range: expected up to 10 s (as in pcie:25GBps)
= 2
# What does not go together, and files that are none.
$ cd tests/data/topology; pipesim clusters ./my.xml --topo h100.txt
! pipesim: error: ./my.xml is a file: --topo and --nccl-tests change a preset or a text
= 2
$ pipesim clusters h100 -o x.txt
! pipesim: error: -o writes the cluster of --topo FILE and --nccl-tests LOG; --xml prints a preset or a text
= 2
$ pipesim clusters h100 --collective all_reduce
! pipesim: error: --collective names the collective of --nccl-tests LOG
= 2
$ pipesim clusters --topo LICENSE
! pipesim: error: LICENSE:202: ends without a table of 'nvidia-smi topo -m' (a line 'GPU0 GPU1 ...')
= 2
$ pipesim clusters --topo nowhere.txt
! pipesim: error: cannot open nowhere.txt: No such file or directory
= 1
$ cd tests/data/topology; sed '/^GPU3/d' h100.txt >$TMPDIR/cut.txt; cd $TMPDIR; pipesim clusters --topo cut.txt
! pipesim: error: cut.txt:41: ends without the row of GPU3
= 2
$ cd tests/data/topology; sed '/^GPU3/s/NV18/NV17/' h100.txt >$TMPDIR/odd.txt; cd $TMPDIR; pipesim clusters --topo odd.txt
! pipesim: error: odd.txt: GPU3 to GPU0 is not as GPU0 to GPU3
= 2
$ cd tests/data/topology; pipesim clusters --topo h100.txt -o nowhere/x.xml
! pipesim: error: cannot write 'nowhere/x.xml': No such file or directory
= 1
