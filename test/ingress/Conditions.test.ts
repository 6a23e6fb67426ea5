import { assert, describe } from "@effect/vitest"
import { problem, signal, signals, test, type TestIngress } from "./TestIngress.ts"
import { present } from "../support/Present.ts"

const cell = "/v1/spaces/shop/cells/data/stock"

/** The entity tag of a cell. */
const tagOf = async ({ ask }: TestIngress, path = cell): Promise<string> => {
  const etag = (await ask(path)).headers.get("etag")
  assert.match(etag ?? "", /^"[0-9a-f]{32}"$/)
  return present(etag)
}

describe("A condition on a cell", () => {
  test("lets one of several writers with the same tag succeed, and loses none of their changes", async (app) => {
    const written = await app.put(cell, { tea: 5 })
    const tag = await tagOf(app)
    assert.strictEqual(written.headers.get("etag"), tag)
    const answers = await Promise.all([1, 2, 3].map((n) => app.put(cell, { tea: n }, { "if-match": tag })))
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 412, 412])
    assert.deepStrictEqual(problem(present(answers.find(({ status }) => status === 412))), [412, "cell/changed"])
    const winner = answers.findIndex(({ status }) => status === 200) + 1
    assert.deepStrictEqual((await app.ask(cell)).body, { tea: winner })
    assert.notStrictEqual(await tagOf(app), tag)
    assert.strictEqual((await app.put(cell, { tea: 9 }, { "if-match": `"x", ${await tagOf(app)}` })).status, 200)
  })

  test("creates where nothing is, and deletes the value that was read", async (app) => {
    await app.post(signals, signal)
    const [first, second] = [await app.put(cell, 1, { "if-none-match": "*" }), await app.put(cell, 2, { "if-none-match": "*" })]
    assert.deepStrictEqual([first.status, ...problem(second)], [200, 412, "cell/changed"])
    const tag = await tagOf(app)
    await app.put(cell, 3)
    const remove = (tag: string) => app.ask(cell, { method: "DELETE", headers: { "if-match": tag } })
    assert.deepStrictEqual(problem(await remove(tag)), [412, "cell/changed"])
    assert.strictEqual((await remove(await tagOf(app))).status, 200)
    assert.deepStrictEqual(problem(await remove("*")), [412, "cell/changed"])
  })

  test("is on the value at the address, with its path", async (app) => {
    await app.put(cell, { tea: 5, pot: 1 })
    const tea = await tagOf(app, `${cell}?path=/tea`)
    await app.put(`${cell}?path=/pot`, 2)
    assert.strictEqual(await tagOf(app, `${cell}?path=/tea`), tea)
    assert.strictEqual((await app.put(`${cell}?path=/tea`, 6, { "if-match": tea })).status, 200)
    assert.deepStrictEqual(problem(await app.put(`${cell}?path=/tea`, 7, { "if-match": tea })), [412, "cell/changed"])
  })

  test("answers a read of the same value with 304", async (app) => {
    await app.put(cell, { tea: 5 })
    const tag = await tagOf(app)
    const same = await app.fetch(cell, { headers: { "if-none-match": tag } })
    assert.deepStrictEqual([same.status, same.headers.get("etag"), await same.text()], [304, tag, ""])
    assert.strictEqual((await app.ask(cell, { headers: { "if-none-match": "\"other\"" } })).status, 200)
  })

  test("that a write does not take is refused, and nothing is written", async (app) => {
    await app.put(cell, 1)
    const tag = await tagOf(app)
    const both = { "if-match": tag, "if-none-match": "*" }
    const cases = [{ "if-match": "abc" }, { "if-none-match": tag }, both, { "if-match": "\"".repeat(999) },
      { "if-match": `${"\"x\", ".repeat(100)}${tag}` }]
    for (const headers of cases) assert.deepStrictEqual(problem(await app.put(cell, 2, headers as {})), [400, "cell/condition"])
    assert.deepStrictEqual(problem(await app.put(cell, 2, { "if-match": `W/${tag}` })), [412, "cell/changed"])
    assert.strictEqual((await app.ask(cell)).body, 1)
  })
})
