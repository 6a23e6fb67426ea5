/**
 * Channels that actions of a control file need, and that their space does not have.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { ChannelRow } from "systole"
import { Client, exits, SpaceArgument } from "systole/cli"
import * as ActionFields from "../document/ActionFields.ts"
import type { ControlFile } from "../document/ControlFile.ts"
import * as Issues from "../text/Issue.ts"

interface Channels {
  readonly channels: ReadonlyArray<Pick<ChannelRow, "channel">>
}

/**
 * The warnings about actions whose channels are absent. A space that does not exist yet tells none.
 */
export const of = Effect.fn("AbsentChannels.of")(function*({ actions, lines }: ControlFile, space: string) {
  const client = yield* Client
  const found = yield* client.ask<Channels>(`${SpaceArgument.path(space)}/io/channels`).pipe(
    Effect.catch((error) => error.exit === exits.absent ? Effect.succeed(undefined) : Effect.fail(error))
  )
  const known = new Set(found?.channels.map(({ channel }) => channel))
  return actions.flatMap((action): ReadonlyArray<Issues.Issue> => {
    const absent = found === undefined ? undefined : ActionFields.channelsOf(action).find((channel) => !known.has(channel))
    if (absent === undefined) return []
    const { heading, index } = action.block
    const message = `The action "${action.id}" needs the channel ${absent}, and the space "${space}" has none of this name`
    const suggestion = `configure it as channels: { "${absent}": … }`
    return [Issues.at(lines, {
      code: "agent/channel-absent", severity: "warning", offset: heading.start, message, suggestion, block: index
    })]
  })
})
