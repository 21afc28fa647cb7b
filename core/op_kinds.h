/* core/op_kinds.h — every instruction a rank can execute; include it with PP_OP defined.
 *
 *    PP_OP(name, text, stream, has_mb)
 *    name    enum constant PP_##name        text    as printed and parsed in a cell
 *    stream  the stream it occupies         has_mb  the cell names a micro-batch
 *                                                   reads -> writes                              */
/* clang-format off */
PP_OP(F,      "F",      COMPUTE, 1)  /* act[s-1,m] -> act[s,m], saved[s,m]                        */
PP_OP(B,      "B",      COMPUTE, 1)  /* grad[s+1,m], saved -> grad[s,m], wgrad[s]; frees saved    */
PP_OP(I,      "I",      COMPUTE, 1)  /* grad[s+1,m], saved -> grad[s,m]             (B = I + W)   */
PP_OP(W,      "W",      COMPUTE, 1)  /* saved -> wgrad[s]; frees saved[s,m]                       */
PP_OP(R,      "R",      COMPUTE, 1)  /* checkpoint[s,m] -> saved[s,m]                             */
PP_OP(U,      "U",      COMPUTE, 0)  /* wgrad[s], optimizer state -> weights[s]                   */
PP_OP(Q,      "Q",      COMPUTE, 1)  /* saved -> quantised saved                                  */
PP_OP(DQ,     "DQ",     COMPUTE, 1)  /* quantised saved -> saved                                  */
PP_OP(AG,     "AG",     REDUCE,  0)  /* post: shards of weights[s] -> weights[s]                  */
PP_OP(RS,     "RS",     REDUCE,  0)  /* post: wgrad[s] of all replicas -> own shard of the sum    */
PP_OP(AR,     "AR",     REDUCE,  0)  /* post: wgrad[s] of all replicas -> their sum               */
PP_OP(BC,     "BC",     REDUCE,  0)  /* post: weights[s] of the owner -> everyone                 */
PP_OP(A2A,    "A2A",    REDUCE,  1)  /* post: tokens by expert, bytes per peer                    */
PP_OP(SEND_F, "SEND_F", CHANNEL, 1)  /* post: act[s,m] to the rank of stage s+1                   */
PP_OP(RECV_F, "RECV_F", CHANNEL, 1)  /* post: act[s-1,m] from the rank of stage s-1               */
PP_OP(SEND_B, "SEND_B", CHANNEL, 1)  /* post: grad[s,m] to the rank of stage s-1                  */
PP_OP(RECV_B, "RECV_B", CHANNEL, 1)  /* post: grad[s+1,m] from the rank of stage s+1              */
PP_OP(COPY,   "COPY",   COPY,    1)  /* post: saved[s,m], or cache[s,m], between memory tiers     */
PP_OP(MOVE,   "MOVE",   COPY,    0)  /* post: state of a stage between memory tiers            */
PP_OP(WAIT,   "WAIT",   CONTROL, 1)  /* blocks compute until a posted instruction has finished    */
PP_OP(DROP,   "DROP",   CONTROL, 0)  /* frees gathered weights[s]                                 */
PP_OP(BAR,    "BAR",    CONTROL, 0)  /* all ranks meet                                            */
/* clang-format on */
