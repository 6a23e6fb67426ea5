/**
 * The channel `socket`: exchanges over connections of TCP, TLS and UDP, and one connection that stays open.
 *
 * | opcode | payload | value | repeatable |
 * |---|---|---|---|
 * | `exchange` | `{ host, port, protocol? }`, and a body | `{ bytes, text }` or `{ bytes, content }` | no |
 * | `send` | `text`, `data` or `content` | `{ bytes }` | no: it would be sent twice |
 *
 * `exchange` connects, writes, reads and closes. Its body is `text`, `data` or `content`, and may be absent. With the option
 * `repeatable`, it is repeatable. `protocol` is `"tcp"` unless given, `"tls"` or `"udp"`. `until` is the end of the answer:
 * `{ bytes: number }`, `{ delimiter: text }`, which is no part of the value, `"close"`, which also ends what is written and is the
 * default, `"none"` for no answer, or `"datagram"`, the default of UDP. A connection that closes before is the failure `io/closed`.
 * Beyond `maxBytes`, by default the option of that name, it is closed: `socket/size`. What is read after the end is dropped.
 *
 * With the option `connect`, the channel keeps a connection open, and has the opcode `send`. It ends when the host has taken the bytes,
 * which does not tell that the other side has read them. It waits for the connection. The connection opens again 1, 2, 4 … 64 s after
 * it ended or could not be opened, which is reported once (`io/connection`). No run has a connection, so a restart changes nothing
 * for it.
 *
 * With `messages` and `inbound`, each message that arrives becomes a signal with the payload `{ text }`, or `{ data }` with
 * `as: "bytes"`, and the id `<channel>:<connection>:<n>`, in which `<connection>` is drawn for each opening. A message is taken at
 * most once: what is on its way when the connection or the process ends is lost. While the inbox of the space is full, the other side
 * waits; a datagram beyond `maxMessage` or 1 MiB of waiting ones is lost. A message of another form than UTF-8 is dropped. Both are
 * reported once for a connection (`io/inbound`). Another message beyond `maxMessage` closes the connection, which is reported as each
 * end of it (`io/connection`). A detached space has no connection.
 *
 * | `messages` | form |
 * |---|---|
 * | `lines` | text or bytes before a line feed; a carriage return before it is left out |
 * | `length-prefixed` | bytes after their number, an unsigned integer of 32 bits, big endian |
 * | `datagram` | a datagram of UDP |
 *
 * Addresses are those of the channel `http`: public ones and the list `allow`, without the list `deny`. Each address of a name is
 * checked, and the connection goes to one of them. UDP takes datagrams of that address and port alone, which others can forge.
 * Workers have no such sockets.
 *
 * @module
 */
import { Plugin } from "systole"
import * as SocketChannel from "./socket/SocketChannel.ts"

export default Plugin.make({
  name: "socket",
  version: "0.1.0",
  provides: { channels: { socket: (settings) => SocketChannel.define(settings) } }
})
