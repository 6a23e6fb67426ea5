/**
 * The first-party enzyme that moves a request from the lobby to the inbox of its namespace. It runs before the enzymes
 * that process the request.
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
