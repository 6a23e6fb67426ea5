/**
 * `node test/scripts/run.mjs test/expressions/prove.ts`: proves the expressions of the sources without kept proofs, and keeps the
 * proofs.
 *
 * @module
 */
import process from "node:process"
import * as Expressions from "./Expressions.ts"
import * as Proofs from "./Proofs.ts"

const kept = Proofs.read()
const { known } = Expressions.ofSources()
const proofs = new Map<string, Proofs.Kind>()
for (const expression of known) {
  const literal = Proofs.literal(expression)
  const proof = kept.get(literal)
  const judged = proof === undefined ? Proofs.judged(expression) : { proved: proof }
  if ("proved" in judged) proofs.set(literal, judged.proved)
  else console.error(`${judged.steps}: ${literal} in ${expression.places.join(", ")}`)
}
Proofs.write(proofs)
console.log(`${proofs.size} of ${known.length} are proved`)
process.exit(proofs.size === known.length ? 0 : 1)
