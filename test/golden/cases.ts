import { call, say, think } from "../emulators/common/answer.ts";
import type { GoldenTurn } from "./conversation.ts";

const search = (query: string) => call("tool_search", { query });

/** Input that changes when it is parsed and written again, with a lone surrogate as an escape and as it is. */
const ODD = '{"text":"\\ud83d and \ud83d", "10":1, "2":12345678901234567890, "__proto__":{"a":1e400}, "1.0":1.0}';

/** The conversations whose last request stands in a golden file, by the file's name. */
export const CASES: Readonly<Record<string, readonly GoldenTurn[]>> = {
  "first-call": [{ user: "Hello.", answers: [say("Hello, Ann.")] }],

  search: [{ user: "Is it raining?", answers: [[think("I need a tool."), search("weather")], say("I can find out.")] }],

  "load-and-use": [
    { user: "Is it raining?", answers: [search("weather"), [say("Let me see."), call("weather")], say("It is.")] },
    { user: "And now?", answers: [call("weather", { text: "now" }), say("Still.")] },
  ],

  "parallel-with-one-failure": [
    {
      user: "Look everywhere.",
      answers: [
        [search("weather"), search("convert"), call("fetch_page", { text: "example.org" })],
        [call("weather"), call("fetch_page"), call("convert")],
        say("Two of three worked."),
      ],
    },
  ],

  "late-tool-between-turns": [
    { user: "What time is it?", answers: [call("clock"), say("Noon.")] },
    { user: "Translate that.", late: ["translate"], answers: [call("translate", { text: "noon" }), say("Mittag.")] },
  ],

  "late-tool-after-a-lost-request": [
    { user: "What time is it?", answers: [call("clock"), say("Noon.")] },
    { user: "Are you there?", answers: ["lost"] },
    { user: "Translate that.", late: ["translate"], answers: [call("translate", { text: "noon" }), say("Mittag.")] },
  ],

  "image-result": [{ user: "Draw a dot.", answers: [call("draw"), say("Drawn.")] }],

  "45-block-step": [
    {
      user: "Count to fifteen.",
      answers: [
        Array.from({ length: 15 }, (_, index) => [say(`${index + 1}`), call("clock", { text: `${index + 1}` })]),
        say("Counted."),
      ],
    },
    { user: "And on.", answers: [say("Sixteen.")] },
  ],

  "companion-beside-a-mixed-search": [
    { user: "Clock and weather.", answers: [search("clock, weather"), [search("dates"), call("clock")], say("Both.")] },
  ],

  compaction: [
    { user: "Is it raining?", answers: [search("weather"), [say("Let me see."), call("weather")], say("It is.")] },
    { user: "And now?", compact: "runtime", answers: [say("It rains."), [think("So."), say("Still.")]] },
    { user: "And then?", answers: [say("Who knows.")] },
  ],

  "odd-inputs": [
    { user: "Do odd things.", answers: [[call("clock", ODD), call("clock", '{"text":')], say("Odd.")] },
    { user: "Again.", answers: [say("No.")] },
  ],
};

/** Where a provider compacts by itself, as it does that (`compacts` of its models' table). */
export const OWN_COMPACTIONS: Readonly<Record<"at_length" | "when_asked", readonly GoldenTurn[]>> = {
  at_length: [
    { user: "Is it raining?", compact: "provider", answers: [[think("Hm."), say("It is.")]] },
    { user: "And now?", compact: "provider", answers: ["compacted", [think("So."), say("Still.")]] },
    { user: "And then?", compact: "provider", answers: [say("Who knows.")] },
  ],
  when_asked: [
    { user: "Is it raining?", answers: [search("weather"), [say("Let me see."), call("weather")], say("It is.")] },
    { user: "And now?", compact: "provider", answers: [say("It rains."), "compacted", [think("So."), say("Still.")]] },
    { user: "And then?", answers: [say("Who knows.")] },
  ],
};
