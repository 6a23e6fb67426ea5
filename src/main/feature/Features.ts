/**
 * All features of the runtime.
 *
 * @module
 */
import type { Feature } from "../Feature.ts"
import { feature as content } from "./content.ts"
import { feature as debug } from "./debug.ts"
import { feature as durable } from "./durable.ts"
import { feature as flows } from "./flows.ts"
import { feature as graph } from "./graph.ts"
import { feature as history } from "./history.ts"
import { feature as labels } from "./labels.ts"
import { feature as rendezvous } from "./rendezvous.ts"
import { feature as requests } from "./requests.ts"
import { feature as schema } from "./schema.ts"

/**
 * All features, in the order in which a beat advances their ledgers.
 *
 * @category features
 * @since 0.1.0
 */
export const all: ReadonlyArray<Feature> = [schema, labels, rendezvous, flows, requests, durable, content, history, graph, debug]
