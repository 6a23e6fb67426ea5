/**
 * `systole new`: creates a project, an enzyme or a plugin from a template.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { CliFailure, exits } from "../CliFailure.ts"
import { Host } from "../Host.ts"
import * as Output from "../Output.ts"
import * as ProjectTemplate from "./ProjectTemplate.ts"
import * as Template from "./Template.ts"

/** Writes new files. If one exists already, none is written. */
const write = Effect.fn("NewCommand.write")(function*(files: Template.Files, json: boolean) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { root } = yield* Host
  const names = Object.keys(files)
  for (const name of names) {
    if (yield* fs.exists(path.join(root, name))) {
      return yield* new CliFailure({
        exit: exits.failed,
        code: "file/exists",
        message: `${name} is there already, and nothing was written. Choose another name, or move it away`
      })
    }
  }
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(root, name)
    yield* fs.makeDirectory(path.dirname(file), { recursive: true })
    yield* fs.writeFileString(file, text, { flag: "wx" })
  }
  yield* Output.data(json, names, names)
}, Effect.catchTag("PlatformError", (error) =>
  new CliFailure({
    exit: exits.usage,
    code: "file/unwritable",
    message: `The files cannot be written: ${error.message}. Make the folder writable`
  })))

const name = (pattern: RegExp, what: string) =>
  Argument.String("name").pipe(
    Argument.withDescription(`The name of the ${what}`),
    Argument.filter(
      (name) => pattern.test(name),
      (name) => `${JSON.stringify(name)} is no name for the ${what}: use a-z, 0-9, _ and -, and begin with a letter`
    )
  )

const moduleName = /^[a-z][a-z0-9_-]{0,62}$/

const template = Flag.Literals("template", ProjectTemplate.names).pipe(
  Flag.withDescription(ProjectTemplate.abouts().join(" ")),
  Flag.withDefault(ProjectTemplate.names[0])
)

const project = Command.make("project", { name: name(moduleName, "project"), template, json: Output.json }, ({ json, ...given }) =>
  Effect.gen(function*() {
    const { installation } = yield* Host
    yield* write(ProjectTemplate.make({ ...given, installation }), json)
    yield* Output.note(ProjectTemplate.guide(given))
  })).pipe(Command.withDescription("Begin a project in a folder of its own"))

const enzyme = Command.make("enzyme", { name: name(moduleName, "enzyme"), json: Output.json }, ({ json, name }) =>
  write(Template.enzyme(name), json)).pipe(Command.withDescription("Begin an enzyme in enzymes/"))

const plugin = Command.make("plugin", { name: name(moduleName, "plugin"), json: Output.json }, ({ json, name }) =>
  write(Template.plugin(name), json)).pipe(Command.withDescription("Begin a plugin in plugins/"))

/**
 * The command `new`.
 */
export const command = Command.make("new").pipe(
  Command.withDescription("Begin a project, an enzyme or a plugin"),
  Command.withSubcommands([project, enzyme, plugin])
)
