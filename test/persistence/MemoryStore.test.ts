import { MemoryStore } from "systole"
import { suite } from "../conformance/PersistenceSuite.ts"

suite("MemoryStore", MemoryStore.layer)
