/**
 * Begins the mailroom in a space: a lobby and an inbox for each bucket that the
 * catalogue under `/sys/err_cat` names.
 *
 * @module
 */
import { Enzyme, Mailroom } from "systole"

export default Enzyme.make({
  name: "mr_init",
  query: "/CEP:sig_sys/init",
  before: ["rv_init"],
  writes: ["/data/inbox/*/*", "/data/*/inbox/*"],
  run: (tx) => Mailroom.bootstrap(tx)
})
