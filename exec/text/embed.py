"""embed.py TEXT OUT.c — the bytes of a file as the C array pp_text_builtin_bytes."""
import sys

with open(sys.argv[1], "rb") as text:
    data = text.read()
rows = (",".join(map(str, data[i : i + 32])) for i in range(0, len(data), 32))
with open(sys.argv[2], "w") as out:
    out.write('#include "exec/text_builtin.h"\n\n')
    out.write("const size_t pp_text_builtin_count = %d;\n" % len(data))
    out.write("const unsigned char pp_text_builtin_bytes[] = {\n%s\n};\n" % ",\n".join(rows))
