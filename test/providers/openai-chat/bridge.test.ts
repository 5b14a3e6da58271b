import fc from "fast-check";
import { expect, test } from "vitest";
import { bridged, unbridged } from "../../../src/providers/openai-chat/bridge.ts";
import { memberText } from "../../../src/providers/openai-chat/member-text.ts";

const call = (input: string) => unbridged({ name: "call_tool", input });

test("a call of the bridge is one of the named tool, with its input as the model wrote it", () => {
  const input = '{"10":1, "2":12345678901234567890,"a":"}\\"{"}';
  expect(call(bridged("weather", input))).toEqual({ name: "weather", input });
  expect(call(` { "arguments" : ${input} , "name":"weather"}`)).toEqual({ name: "weather", input });
  expect(call(`{"name":"weather","arguments":${JSON.stringify(input)}}`)).toEqual({ name: "weather", input });
  expect(call('{"name":"clock"}')).toEqual({ name: "clock", input: "{}" });
  expect(call('{"name":"clock","arguments":""}')).toEqual({ name: "clock", input: "{}" });
});

test.for(["{bad", '{"arguments":{}}', '{"name":7}', '{"name":""}', "[]", "null"])(
  "%s names no tool and stays a call of the bridge",
  (input) => expect(call(input)).toEqual({ name: "call_tool", input }),
);

test("any other call is what it is", () => {
  expect(unbridged({ name: "clock", input: '{"name":"x"}' })).toEqual({ name: "clock", input: '{"name":"x"}' });
});

test("a member's text is found however the JSON is spelled", () => {
  const spaced = fc.record({ value: fc.jsonValue(), space: fc.constantFrom(0, 1, 2) });
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), spaced, fc.string(), (rest, { value, space }, key) => {
      const json = JSON.stringify({ ...rest, [key]: value }, null, space);
      const found = memberText(json, key);
      return (
        key === "__proto__" ||
        JSON.stringify(JSON.parse(found ?? "")) === JSON.stringify(JSON.parse(JSON.stringify(value)))
      );
    }),
  );
});
