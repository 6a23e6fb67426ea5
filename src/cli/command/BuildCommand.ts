/**
 * `systole build`: writes a folder that runs the project on one platform, without its sources and packages.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Printable from "../../diagnostic/Printable.ts"
import * as DataFolder from "../DataFolder.ts"
import { type Build, Host, TARGETS } from "../Host.ts"
import * as Output from "../Output.ts"

const target = Flag.Literals("target", TARGETS).pipe(Flag.withDescription("The platform: node, deno, bun or workers"))

const out = Flag.String("out").pipe(
  Flag.withDescription("The folder of the build, with nothing else in it; dist/ and the platform unless given"),
  Flag.optional
)

const keep = Flag.String("keep").pipe(
  Flag.withDescription("The digest of an earlier module that open durable runs need; more than once for several"),
  Flag.filter((hash) => /^[0-9a-f]{64}$/.test(hash), (hash) => `${JSON.stringify(hash)} is no digest; use 64 characters of 0-9 and a-f`),
  Flag.atLeast(0)
)

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`

/** The files and modules of a build, as lines. */
const lines = ({ files, kept, modules, out, parts, slices }: Build): ReadonlyArray<string> => [
  ...Output.table(parts.map(({ bytes, part }) => [part, kilobytes(bytes)])),
  ...Output.table(files.map(({ bytes, file, gzip }) => [`${out}/${file}`, kilobytes(bytes), `${kilobytes(gzip)} compressed`])),
  ...Output.table(slices.map(({ bytes, slice }) => [`slice ${slice}`, kilobytes(bytes)])),
  [
    Printable.count(Object.keys(modules).length, "module"),
    ...kept.length === 0 ? [] : [`and ${Printable.count(kept.length, "earlier one")}`]
  ].join(", ")
]

/**
 * The command `build`.
 */
export const command = Command.make("build", { target, out, keep, json: Output.json }, ({ json, keep, out, target }) =>
  Effect.gen(function*() {
    const environment = Option.getOrUndefined(yield* DataFolder.environment)
    const request = { target, out: Option.getOrElse(out, () => `dist/${target}`), environment, keep }
    const build = yield* Host.use((host) => host.build(request))
    yield* Output.data(json, build, lines(build))
    for (const note of build.notes) yield* Output.note(note)
  })).pipe(Command.withDescription("Write a folder that runs this project on one platform, without its sources and packages"))
