import { SEARCH_SPEC } from "../../src/catalog/search.ts";
import type { ToolSpec } from "../../src/values/tool.ts";
import { CORE_SPECS, LATE_SPEC, LAZY_SPECS } from "./catalog.ts";

/** What happened in a conversation, as its transcript keeps it: a strategy decides from this and from its memory. */
export interface Transcript {
  /** Names that searches loaded, in order, each once, with the turn of the search. */
  readonly loaded: readonly { readonly name: string; readonly turn: number }[];
  /** The newest call that has a result. */
  readonly lastCall: string | null;
  readonly turn: number;
  /** The late tool is there. */
  readonly late: boolean;
}

/** What a request declares, and which results stand as references to the tools that were loaded there. */
export interface Layout {
  readonly inline: readonly ToolSpec[];
  readonly deferred: readonly ToolSpec[];
  /** Call id to the names that its result refers to, instead of what the tool said. */
  readonly references: ReadonlyMap<string, readonly string[]>;
}

/** How a runtime lays out tools. `layout` is asked before each request, in order. */
export interface Strategy {
  readonly name: string;
  readonly told: string;
  layout(transcript: Transcript): Layout;
}

const LAZY = new Map(LAZY_SPECS.map((spec) => [spec.name, spec]));
const CORE = [...CORE_SPECS, SEARCH_SPEC];
const lazyOf = (names: readonly string[]) => names.flatMap((name) => LAZY.get(name) ?? []);
const inlineOnly = (inline: readonly ToolSpec[]): Layout => ({ inline, deferred: [], references: new Map() });

/** Every tool in every request, the late one behind the others. */
export function allInline(): Strategy {
  return {
    name: "all tools inline",
    told: "no search; 124 definitions in every request",
    layout: ({ late }) => inlineOnly([...CORE_SPECS, ...LAZY_SPECS, ...(late ? [LATE_SPEC] : [])]),
  };
}

/** What a search loaded is forgotten at the next user message; active tools stand in catalog order (PI-Desktop #225). */
export function clearedEachPrompt(): Strategy {
  return {
    name: "cleared at each prompt",
    told: "loaded tools are dropped when the user speaks, and searched again",
    layout({ loaded, turn, late }) {
      const active = new Set(loaded.flatMap((one) => (one.turn === turn ? [one.name] : [])));
      const lazy = LAZY_SPECS.filter(({ name }) => active.has(name));
      return inlineOnly([...CORE_SPECS, ...(late ? [LATE_SPEC] : []), SEARCH_SPEC, ...lazy]);
    },
  };
}

/** Loaded tools stay, behind the others in the inline list, in the order they came. */
export function movedInline(): Strategy {
  const order: string[] = [];
  return {
    name: "loaded tools moved inline",
    told: "each load, and the late tool, adds a definition to the inline list",
    layout({ loaded, late }) {
      for (const { name } of loaded) if (!order.includes(name)) order.push(name);
      if (late && !order.includes(LATE_SPEC.name)) order.push(LATE_SPEC.name);
      return inlineOnly([...CORE, ...order.flatMap((name) => (name === LATE_SPEC.name ? LATE_SPEC : lazyOf([name])))]);
    },
  };
}

/** OpenAI's own way: every lazy tool is declared, deferred, and loaded by a search's answer. The late one goes inline. */
export function declaredDeferred(): Strategy {
  return {
    name: "declared deferred",
    told: "all definitions in `tools`, deferred; a search is answered by those it found",
    layout: ({ late }) => ({
      inline: [...CORE, ...(late ? [LATE_SPEC] : [])],
      deferred: LAZY_SPECS,
      references: new Map(),
    }),
  };
}

/**
 * Deferred definitions with load points, kept with the conversation; a load point's result becomes references, whatever
 * it said. The load point is the newest call, sent or not (the originals' rendering for Anthropic).
 */
export function loadPointRewriting(): Strategy {
  return {
    ...deferring(),
    name: "load-point rewriting",
    told: "the newest result becomes the load point, sent or not; what it said is lost",
  };
}

/** The same, but a new runtime for each turn takes what it finds as its baseline (docker-agent #4685). */
export function rebaselined(): Strategy {
  let runtime = deferring();
  let of = 0;
  return {
    name: "re-baselined by every runtime",
    told: "what was deferred in one turn stands inline in the next, and its load point shows its text again",
    layout(transcript) {
      if (transcript.turn !== of) runtime = deferring();
      of = transcript.turn;
      return runtime.layout(transcript);
    },
  };
}

function deferring(): Pick<Strategy, "layout"> {
  let baseline: ReadonlySet<string> | null = null;
  const loadPoints = new Map<string, string>();
  return {
    layout({ loaded, lastCall, late }) {
      const tools = [...CORE, ...lazyOf(loaded.map(({ name }) => name)), ...(late ? [LATE_SPEC] : [])];
      baseline ??= new Set(tools.map(({ name }) => name));
      for (const { name } of tools) {
        if (!baseline.has(name) && !loadPoints.has(name) && lastCall !== null) loadPoints.set(name, lastCall);
      }
      const references = new Map<string, string[]>();
      for (const [name, callId] of loadPoints) references.set(callId, [...(references.get(callId) ?? []), name]);
      return {
        inline: tools.filter(({ name }) => !loadPoints.has(name)),
        deferred: tools.filter(({ name }) => loadPoints.has(name)),
        references,
      };
    },
  };
}
