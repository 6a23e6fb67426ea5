import { assert, describe, it } from "@effect/vitest"
import * as ControlFile from "../../plugins/agent/document/ControlFile.ts"
import { format } from "../../plugins/agent/document/Format.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import * as RandomFile from "./RandomFile.ts"
import { control, sample } from "./Sample.ts"

const formatted = (text: string): string => format(ControlFile.parse(text))

describe("Format", () => {
  it("leaves a plain file as it is", () => assert.strictEqual(formatted(sample), sample))

  it("brings headings and fields into their plain form, and leaves prose", () => {
    const block = "### [high]   A  ###\n*  **ID** :\ta  \n- **type**: shell\n- **status**: PENDING\n  prose  \n- **prompt**:  |\n    a  \n"
    const text = control(block)
    const plain = control("### [HIGH] A\n- **id**: a\n- **type**: shell\n- **status**: pending\n  prose  \n- **prompt**: |\n    a  \n")
    assert.strictEqual(formatted(text), plain)
  })

  it("adds a missing status", () => {
    const block = "### [LOW] A\n- **id**: a\n- **type**: shell\n- **command**: x\n"
    assert.strictEqual(formatted(control(block)), control(`${block}- **status**: pending\n`))
  })

  it("keeps the actions and the lines of prose, and changes nothing the second time", () => {
    const meaning = (text: string) => ControlFile.parse(text).actions.map(({ block: _block, ...action }) => action)
    for (const seed of Trials.seeds(2_000, { least: 300 })) {
      const draw = Random.make(seed)
      const text = draw(2) === 0 ? RandomFile.valid(draw) : RandomFile.mutated(draw, RandomFile.valid(draw))
      const once = formatted(text)
      assert.strictEqual(JSON.stringify(meaning(once)), JSON.stringify(meaning(text)), `seed ${seed}`)
      assert.strictEqual(formatted(once), once, `seed ${seed}`)
    }
  })
})
