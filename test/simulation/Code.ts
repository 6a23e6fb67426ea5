/**
 * The code of a simulated world: the versions of its modules, and the deployments that change them on all hosts.
 *
 * @module
 */
import type { Effect } from "effect"
import type { Enzyme, Kernel, NodeDefinition } from "systole"
import rvInit from "../../enzymes/rv_init.ts"
import rvRoute from "../../enzymes/rv_route.ts"
import * as Derived from "./Derived.ts"
import * as Modules from "./Modules.ts"
import type { Outside } from "./Program.ts"

/** Runs an Effect that has to succeed. */
type Must = <A, E>(effect: Effect.Effect<A, E>) => Promise<A>

/** The state of an enzyme: its version, or that it is left out, or that its file fails to load, which a process meets at its start. */
export type Deployed = number | "absent" | "broken"

/** The code of a world. */
export class Code {
  /** The versions of the derived nodes; `undefined` for one that is absent. */
  readonly versions: Array<number | undefined>
  /** All versions that there were together. */
  readonly history: Array<Derived.Versions>
  /** The enzymes that are absent or broken. */
  readonly absent = new Map<string, "absent" | "broken">()
  /** The modules that each host has beside those of the table. */
  private readonly others: ReadonlyArray<Enzyme.Enzyme | NodeDefinition>
  private readonly outside: Outside
  private readonly must: Must
  private readonly enzymeVersions = new Map<string, number>()
  /** The enzymes of each process whose files failed to load at its start. */
  private readonly broken = new WeakMap<Kernel["Service"], Set<string>>()
  private readonly modules = new Map<string, Enzyme.Enzyme | NodeDefinition>()

  constructor({ absent, must, others, outside }: {
    readonly absent: ReadonlyArray<number>
    readonly others: ReadonlyArray<Enzyme.Enzyme | NodeDefinition>
    readonly outside: (history: ReadonlyArray<Derived.Versions>) => Outside
    readonly must: Must
  }) {
    this.versions = Derived.all.map((node) => absent.includes(node) ? undefined : 0)
    this.history = [[...this.versions]]
    this.outside = outside(this.history)
    this.others = [rvInit, rvRoute, ...others]
    this.must = must
  }

  /** The way to make a module again from its text. */
  get restore() {
    return Modules.restore(this.outside)
  }

  /** Registers all modules in a process that begins. */
  async enroll(kernel: Kernel["Service"]): Promise<void> {
    for (const module of this.others) await this.must(kernel.register(module))
    const broken = Modules.names.filter((name) => this.absent.get(name) === "broken")
    this.broken.set(kernel, new Set(broken))
    for (const name of Modules.names) {
      if (broken.includes(name)) await this.must(kernel.breaks(Modules.fileOf(name)))
      else await this.register(kernel, name)
    }
    for (const node of Derived.all) await this.place(kernel, node)
  }

  /** Puts a version of a node in the place of the present one, on all hosts. */
  async swap(kernels: ReadonlyArray<Kernel["Service"]>, node: number, version: number | undefined): Promise<void> {
    const before = this.versions[node]
    this.versions[node] = version
    this.history.push([...this.versions])
    for (const kernel of kernels) {
      if (before !== undefined) await this.must(kernel.unregister(this.node(node, before)))
      await this.place(kernel, node)
    }
  }

  /**
   * Puts a version of an enzyme, or its absence, in the place of the present one, on all hosts. Where the file no longer loads, a
   * process that is up keeps what it has.
   */
  async deploy(kernels: ReadonlyArray<Kernel["Service"]>, name: string, version: Deployed): Promise<void> {
    const before = this.enzyme(name)
    if (typeof version === "string") this.absent.set(name, version)
    else {
      this.absent.delete(name)
      this.enzymeVersions.set(name, version)
    }
    for (const kernel of version === "broken" ? [] : kernels) {
      const isBroken = this.broken.get(kernel)?.delete(name) === true
      if (!isBroken) await this.must(kernel.unregister(before))
      await this.register(kernel, name)
      if (isBroken) await this.must(kernel.mends(Modules.fileOf(name)))
    }
  }

  /** The enzyme of a name in its present version. Each is made once, since a withdrawal names the same function. */
  private enzyme(name: string): Enzyme.Enzyme {
    const version = this.enzymeVersions.get(name) ?? 0
    return this.made(`${name} ${version}`, () => Modules.enzymeOf(name, version, this.outside))
  }

  /** The node in a version. */
  private node(node: number, version: number): NodeDefinition {
    return this.made(`node ${node} ${version}`, () => Derived.moduleOf(node, version))
  }

  private made<A extends Enzyme.Enzyme | NodeDefinition>(key: string, make: () => A): A {
    const known = this.modules.get(key) as A | undefined ?? make()
    this.modules.set(key, known)
    return known
  }

  /** Registers an enzyme in its present version, or its absence. */
  private async register(kernel: Kernel["Service"], name: string): Promise<void> {
    const code = Modules.codeOf("enzyme", name, this.enzymeVersions.get(name) ?? 0)
    const enzyme = this.enzyme(name)
    await this.must(this.absent.get(name) === "absent" ? kernel.leaveOut(enzyme, code) : kernel.register(enzyme, code))
  }

  /** Registers a node in its present version, unless it is absent. */
  private async place(kernel: Kernel["Service"], node: number): Promise<void> {
    const version = this.versions[node]
    if (version === undefined) return
    await this.must(kernel.register(this.node(node, version), Modules.codeOf("node", Derived.nameOf(node), version)))
  }
}
