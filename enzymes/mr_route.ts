/**
 * Routes what was put into the lobby to the inbox of its layer, before anyone
 * takes it in there.
 *
 * @module
 */
import { Enzyme, Mailroom } from "systole"

export default Enzyme.make({
  name: "mr_route",
  query: Mailroom.ADDED,
  bind: [Mailroom.LOBBY],
  before: Mailroom.ingest,
  writes: ["/data/inbox/*/*/*", "/data/*/inbox/*/*"],
  run: (tx, event) => Mailroom.route(tx, event.target ?? "")
})
