import { assert, describe, it } from "@effect/vitest"
import { Alarm } from "../../src/main/workers/Alarm.ts"

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

describe("The alarm of an object", () => {
  it("is set to earlier times only", () => {
    const { alarm, stored } = alarmed(2_000_000)
    for (const moment of [3_000_000, 2_000_000, 1_500_000, 1_700_000]) alarm.arm(moment)
    assert.deepStrictEqual(stored, [1_500_000])
    alarm.ran()
    alarm.arm(3_000_000)
    assert.deepStrictEqual(stored, [1_500_000, 3_000_000])
  })

  it("leaves work that is due at once to the object for a while", () => {
    const { alarm, clock, stored } = alarmed(null)
    alarm.arm(0)
    clock.now += 1000
    alarm.arm(0)
    alarm.arm(clock.now - 1)
    assert.deepStrictEqual(stored, [1_005_000])
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
})
