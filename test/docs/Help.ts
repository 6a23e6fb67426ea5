/**
 * The help of every command, read from the command line itself.
 *
 * @module
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CliOutput from "effect/cli/CliOutput"
import type { HelpDoc } from "effect/cli/HelpDoc"
import * as Command from "effect/cli/Command"
import { Slices } from "systole"
import agent from "../../plugins/agent/commands.ts"
import { command } from "../../src/cli/command/Cli.ts"
import { Disk } from "../../src/cli/Disk.ts"
import { Host } from "../../src/cli/Host.ts"
import { Hash } from "../../src/persistence/Hash.ts"

/** A command and its help. */
export interface Helped {
  /** The words of the command, such as `systole cell get`. */
  readonly name: string
  readonly doc: HelpDoc
}

/** No command is run for its help, so the host gives nothing. */
const host = Layer.mergeAll(
  Layer.succeed(Host, undefined as never), Layer.succeed(Disk, undefined as never), Layer.succeed(Hash, undefined as never)
)

/** The help of the command with these words. */
const docOf = async (words: ReadonlyArray<string>): Promise<HelpDoc> => {
  const found: Array<HelpDoc> = []
  const presenter: CliOutput.Presenter = {
    present: (event) => Effect.sync(() => {
      if (event._tag === "Help") found.push(event.helpDoc)
    })
  }
  const services = Layer.mergeAll(CliOutput.layerPresenter(presenter), host).pipe(Layer.provideMerge(NodeServices.layer))
  const whole = command({ plugins: [agent], slices: Slices.all })
  await Effect.runPromise(Command.runWith(whole, { version: "0" })([...words, "--help"]).pipe(Effect.provide(services)))
  const [doc] = found
  if (doc === undefined) throw new Error(`systole ${words.join(" ")} --help shows nothing`)
  return doc
}

const walk = async (words: ReadonlyArray<string>): Promise<ReadonlyArray<Helped>> => {
  const doc = await docOf(words)
  const names = (doc.subcommands ?? []).flatMap(({ commands }) => commands.map(({ name }) => name))
  const below = await Promise.all(names.map((name) => walk([...words, name])))
  return [{ name: ["systole", ...words].join(" "), doc }, ...below.flat()]
}

/** Every command, in the order of the help. */
export const all = (): Promise<ReadonlyArray<Helped>> => walk([])
