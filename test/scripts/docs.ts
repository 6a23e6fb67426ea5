/**
 * `npm run docs`: makes the generated parts of the README pages anew.
 *
 * @module
 */
import * as Generated from "../docs/Generated.ts"
import * as Options from "./Options.ts"

Options.read({ script: "docs", about: "Makes the generated parts of the README pages anew.", options: {} })
const changed = await Generated.write()
console.log(changed.length === 0 ? "Every page is as it is generated" : `Changed: ${changed.join(", ")}`)
