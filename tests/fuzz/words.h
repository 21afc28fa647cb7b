/* tests/fuzz/words.h — words for mutants: numbers near limits, marks and keys of the formats. */
/* clang-format off */
#pragma once

static const char *const numbers[] = {
    "NaN", "-nan", "inf", "-inf", "Infinity", "1e308", "1e309", "-1e308", "1e-320", "0x1p1023",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615",
    "18446744073709551616", "4294967295", "4294967296", "2147483647", "2147483648", "65535",
    "65536", "-1", "0", "1", "-0", "0.0", "1e-9", "1e18", "1e19", "00000000000000000001", "+1",
    "1,", "1.", "0b1", "1_000"};
static const char *const words[] = {
    "\"", "\\", "\\u0000", "\\ud800", "\xff", "\xfe\xff", "\xef\xbb\xbf", "\xc0\x80",
    "\xed\xa0\x80", "\n", "\r\n", "\r", "\t", ",", ";", ":", "=", "[", "]", "{", "}", "[[[[[[[[",
    "{\"a\":", "null", "true", "false", "%", "%s%n", "$(id)", "`id`", "<b>", "&amp;", "&#0;",
    "&#x10ffff;", "<!--", "-->", "<![CDATA[", "]]>", "<?xml version='1.0'?>",
    "<!DOCTYPE a [<!ENTITY b \"&c;&c;\"><!ENTITY c \"x\">]>", "&b;", "F0", "B0", "I0", "W0",
    "0F0", "0B0", "1SEND_F0", "RECV_B0", "WAIT", "AR", "RS", "AG", "U", "BAR", "OVERLAP_F_B", "(",
    ")", "0F0;1B0", "F", "B", "W", "I", "R", "GB", "GBps", "Gbps", "us", "ms", "node:", "gpu:",
    "nic:", "device:", "x", "*", "/", "..", "../../x", "-", "--", "#", "# ", "//", "file://",
    "tcp://", "layers", "hidden", "heads", "vocab", "hidden_size", "num_hidden_layers",
    "num_attention_heads", "vocab_size", "time_s", "bytes", "step", "traceEvents", "ph", "ts",
    "dur", "pid", "tid", "name", "args", "cat", "rank", "schema", "version", "end", "tensor",
    "layer", "options", "tokens", "pipesim checkpoint 1", "# passes: ", "passes: 3", "prompt_tokens",
    "new_tokens", "kv_bits", "weight_bits", "kv=host", "OOM"};
