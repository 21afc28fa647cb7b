/* schedules/rows.h — the lists of schedules, alphabetical; include it with PP_SCHEDULE defined, or
 * with PP_GENERATOR, for those that only have forwards. */
#ifdef PP_GENERATOR
PP_GENERATOR(generate)
#endif
#ifdef PP_SCHEDULE
PP_SCHEDULE(1f1b)
PP_SCHEDULE(bfs)
PP_SCHEDULE(bitpipe)
PP_SCHEDULE(chimera)
PP_SCHEDULE(dualpipe)
PP_SCHEDULE(dualpipev)
PP_SCHEDULE(eager_1f1b)
PP_SCHEDULE(gems)
PP_SCHEDULE(gpipe)
PP_SCHEDULE(hanayo)
PP_SCHEDULE(interleaved)
PP_SCHEDULE(interleaved_zb)
PP_SCHEDULE(pipedream)
PP_SCHEDULE(pipedream_2bw)
PP_SCHEDULE(seq1f1b)
PP_SCHEDULE(v_1f1b)
PP_SCHEDULE(v_half)
PP_SCHEDULE(v_min)
PP_SCHEDULE(zb_auto)
PP_SCHEDULE(zb_h1)
PP_SCHEDULE(zb_h2)
PP_SCHEDULE(zbv)
#endif
