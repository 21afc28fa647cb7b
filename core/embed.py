"""embed.py FILE OUT.c HEADER NAME — the bytes of a file as the C array NAME_bytes, NAME_count of them."""
import sys

path, out_path, header, name = sys.argv[1:]
with open(path, "rb") as text:
    data = text.read()
rows = (",".join(map(str, data[i : i + 32])) for i in range(0, len(data), 32))
with open(out_path, "w") as out:
    out.write('#include "%s"\n\n' % header)
    out.write("const size_t %s_count = %d;\n" % (name, len(data)))
    out.write("const unsigned char %s_bytes[] = {\n%s\n};\n" % (name, ",\n".join(rows)))
