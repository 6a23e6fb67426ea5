/**
 * The first-party enzyme that creates the mailroom of a space: a lobby and an inbox for each bucket of the catalogue
 * below `/sys/err_cat`.
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
