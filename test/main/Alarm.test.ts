import { assert, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import { Alarm, type AlarmStorage, surely } from "../../src/main/workers/Alarm.ts"

/** The longest alarm, in milliseconds. */
const YEAR = 31_536_000_000

/** An alarm at the time 1,000,000, with the times that were stored. */
const alarmed = (armed: number | null) => {
  const stored: Array<number> = []
  const clock = { now: 1_000_000 }
  const storage = {
    setAlarm: (moment: number) => {
      stored.push(moment)
      return Promise.resolve()
    }
  }
  return { alarm: new Alarm(storage, armed, () => clock.now), clock, stored }
}

/** A storage at the time 0, with the alarms that were stored, and the number of them that were synchronized. */
const stored = async (
  use: (scene: { readonly armed: ReadonlyArray<number>; readonly storage: AlarmStorage; readonly synced: () => number }) => Promise<void>
): Promise<void> => {
  const now = vi.spyOn(Date, "now").mockReturnValue(0)
  const values = new Map<string, unknown>()
  const armed: Array<number> = []
  let synced = 0
  const storage: AlarmStorage = {
    get: async (key) => values.get(key),
    put: async (key, value) => void values.set(key, value),
    delete: async (key) => values.delete(key),
    setAlarm: async (moment) => void armed.push(moment),
    sync: async () => {
      synced = armed.length
    }
  }
  try {
    await use({ armed, storage, synced: () => synced })
  } finally {
    now.mockRestore()
  }
}

describe("The alarm of an object", () => {
  it("is set to earlier times only", () => {
    const { alarm, stored } = alarmed(2_000_000)
    for (const moment of [3_000_000, 2_000_000, 1_500_000, 1_700_000]) alarm.arm(moment)
    assert.deepStrictEqual(stored, [1_500_000])
    alarm.ran()
    alarm.arm(3_000_000)
    assert.deepStrictEqual(stored, [1_500_000, 3_000_000])
  })

  it("is armed for distant work within what the platform accepts, and again when it comes early", () => {
    const { alarm, clock, stored } = alarmed(null)
    alarm.arm(2 ** 43)
    alarm.arm(Number.MAX_SAFE_INTEGER)
    const [first = 0] = stored
    assert.deepStrictEqual(stored, [1_000_000 + YEAR])
    clock.now = first
    alarm.ran()
    alarm.again(first + YEAR + 1)
    alarm.arm(first + 5)
    assert.deepStrictEqual(stored, [first, first + YEAR, first + 5])
  })

  it("leaves work that is due at once to the object for a while", () => {
    const { alarm, clock, stored } = alarmed(null)
    alarm.arm(0)
    clock.now += 1000
    alarm.arm(0)
    alarm.arm(clock.now - 1)
    assert.deepStrictEqual(stored, [1_005_000])
  })

  it("comes later each time that it finds work in progress, up to a minute, and soon for new work", () => {
    const { alarm, clock, stored } = alarmed(null)
    const delays: Array<number> = []
    const ran = (moment: number) => {
      alarm.ran()
      alarm.again(moment)
      delays.push(stored.at(-1)! - clock.now)
      clock.now = stored.at(-1)!
    }
    for (let n = 0; n < 6; n++) ran(0)
    assert.deepStrictEqual(delays.splice(0), [10_000, 20_000, 40_000, 60_000, 60_000, 60_000])
    ran(clock.now + 1000)
    ran(0)
    assert.deepStrictEqual(delays, [1000, 10_000])
    ran(0)
    alarm.ran()
    alarm.again(0)
    alarm.arm(0)
    assert.deepStrictEqual(stored.slice(-2), [clock.now + 40_000, clock.now + 5000])
    alarm.ran()
    alarm.again(undefined)
    alarm.arm(0)
    ran(0)
    assert.strictEqual(delays.at(-1), 10_000)
  })

  it("counts as lost when it is late", () => {
    const { alarm, clock, stored } = alarmed(1_001_000)
    clock.now = 1_050_000
    alarm.arm(1_100_000)
    assert.deepStrictEqual(stored, [])
    clock.now = 1_061_000
    alarm.arm(1_100_000)
    assert.deepStrictEqual(stored, [1_100_000])
  })

  it("is armed again after a failure, later after each one in a row, at most an hour later, and throws none", async () => {
    const reported: Array<string> = []
    const report = async (failure: unknown) => void reported.push((failure as Error).message)
    await stored(async ({ armed, storage }) => {
      const failing = () => surely(storage, { isRepeated: false, work: () => Promise.reject(new Error("broken")), report })
      for (let n = 0; n < 12; n++) await failing()
      assert.deepStrictEqual(armed.map((moment) => moment / 10_000), [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360, 360])
      await surely(storage, { isRepeated: false, work: () => Promise.resolve(), report })
      await failing()
      assert.strictEqual(armed.at(-1), 10_000)
      const broken = () => Promise.reject(new Error("no storage"))
      const failed = { get: broken, put: broken, delete: broken, setAlarm: broken, sync: broken }
      for (const isRepeated of [false, true]) await surely(failed, { isRepeated, work: broken, report })
      assert.deepStrictEqual([reported.length, reported[0], reported.at(-1)], [15, "broken", "no storage"])
    })
  })

  it("is stored anew before the work of a run that the platform ended and repeats, later each time", async () => {
    await stored(async ({ armed, storage, synced }) => {
      const seen: Array<number> = []
      const work = async () => {
        assert.strictEqual(synced(), armed.length)
        seen.push(armed.length)
      }
      const report = async () => assert.fail("nothing failed")
      await surely(storage, { isRepeated: false, work, report })
      // The platform ends the object within the work, so nothing runs after it.
      const ended = () => new Promise<void>((resolve) => void surely(storage, {
        isRepeated: true,
        work: async () => {
          await work()
          resolve()
          await new Promise(() => {})
        },
        report
      }))
      for (let n = 0; n < 3; n++) await ended()
      await surely(storage, { isRepeated: true, work, report })
      assert.deepStrictEqual([seen, armed.map((moment) => moment / 10_000)], [[0, 1, 2, 3, 4], [1, 2, 4, 8]])
    })
  })
})
