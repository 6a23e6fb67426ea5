/**
 * The agent of a control file in a cell: its file, its ticks, and the check that it lives.
 *
 * @module
 */
import { Effect, Exit } from "effect"
import { Enzyme, type Space } from "systole"
import { CellAgent } from "systole/plugins/agent"
import plugin from "../../plugins/agent.ts"
import type { World } from "./World.ts"

const FILE = "/data/agent/files/heartbeat.md"
const TICKS = "/data/ticks"

/** The minutes between two runs of the action. */
const MINUTES = 10

/** A control file with one action, which sends a signal again and again. */
const file = (save: number): string => [
  "---", "version: 1", "status: idle", "---", "", "# Heartbeat", "", "## Pending Actions", "",
  "### [MEDIUM] tick", "- **id**: tick", "- **type**: signal", "- **signal**: /signals/tick/0", "- **target**: /data/t/0",
  "- **payload**: 1", "- **status**: pending", `- **schedule**: every:${MINUTES}m`, "", "## Notes", "", `Save ${save}.`, ""
].join("\n")

/** The enzymes of the agent, and the one that counts the ticks. */
export const enzymes: ReadonlyArray<Enzyme.Enzyme> = [
  ...plugin.enzymes,
  Enzyme.make({ name: "tick", query: "/signals/tick/:n", bind: ["/data/t"], run: (tx) => tx.append(TICKS, tx.now) })
]

/** Saves the control file, as a person does. */
export const save = (space: Space, number: number) =>
  Effect.andThen(
    space.set("/data/agent/settings", { approval: "none" }),
    space.signal({ signal: CellAgent.SAVE, target: FILE, payload: { text: file(number) } })
  )

/** Whether a row of a list belongs to the agent, which has a wake before it at any time. */
export const isWake = (row: string): boolean => row.includes(CellAgent.WAKE) || row.includes("heartbeat_wake")

const ticksOf = async (world: World, space: Space): Promise<ReadonlyArray<number> | undefined> => {
  const exit = await world.run(Effect.all([space.get(FILE), space.get(TICKS)]))
  if (exit === undefined || !Exit.isSuccess(exit) || exit.value[0] === undefined) return undefined
  return (exit.value[1] ?? []) as ReadonlyArray<number>
}

/** An agent with a control file goes on: in half an hour its action runs two to four times. */
export const lives = async (world: World, space: Space): Promise<string | undefined> => {
  if (!world.plan.hasAgent) return undefined
  const before = await ticksOf(world, space)
  if (before === undefined) return undefined
  await world.advance(3 * MINUTES * 60_000)
  const more = (await ticksOf(world, space) ?? before).length - before.length
  return more >= 2 && more <= 4 ? undefined : `${space.name}: the action of the agent ran ${more} times in three of its intervals`
}
