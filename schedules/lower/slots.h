/* schedules/lower/slots.h — the class of the slot that an instruction carries: see slots.c. */
#pragma once

#include "core/arena.h"
#include "schedules/program/program.h"

enum pp_slot_class {
    PP_SLOT_KEPT,  /* F, where R fills `saved` again; COPY.up of it */
    PP_SLOT_SAVED, /* F, and COPY.up of it, kept and saved; or R, saved alone */
    PP_SLOT_RECV_F,
    PP_SLOT_RECV_B,
    PP_SLOT_SEND_F,
    PP_SLOT_SEND_B,
    PP_SLOT_CLASSES
};
/* Returns [instructions]: the class of each one's slot; -1 if it carries none. */
int8_t *pp_slot_classes(struct pp_arena *arena, const struct pp_program *program);
