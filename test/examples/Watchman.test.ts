import { assert, describe, it } from "@effect/vitest"
import * as Watchman from "../scripts/Watchman.ts"

describe("The watchman", () => {
  it("checks a site, tells its keeper, and backs its pages up, in two hours under the test clock", async () => {
    const { after, before, heard, ran, report } = await Watchman.fastForward()
    const site = ran.filter(({ id }) => id === "site").map(({ at, status }) => `${at} ${status}`)
    assert.deepStrictEqual(site.slice(0, 9), [
      "10:00:00 completed", "10:05:00 completed", "10:10:00 completed", "10:15:00 completed",
      "10:20:00 failed", "10:20:30 failed", "10:21:00 failed", "10:26:00 failed", "10:26:30 failed"
    ])
    assert.strictEqual(site.at(-1), "11:57:00 completed")
    assert.deepStrictEqual(heard.slice(0, 2), ["/greetings The watchman is here", "/alerts {\"text\":\"The site does not answer\"}"])
    assert.deepStrictEqual(ran.filter(({ id }) => id === "backup" || id === "report").map(({ at, id }) => `${at} ${id}`), [
      "11:00:00 backup", "11:00:00 report"
    ])
    assert.match(report, /^In the backup: pages\/\n(?:pages\/\w+\.html\n?){2}$/)
    const changed = Watchman.difference(before, after).filter((line) => !line.startsWith(" "))
    assert.isTrue(changed.every((line) => /^[-+](?:- \*\*\w+\*\*: |\w+: |- \[x\] |$)/.test(line)), changed.join("\n"))
    assert.include(after, "- [x] greet: Greet once (10:00:00)\n")
  })
})
