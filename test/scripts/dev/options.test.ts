import { expect, it } from "vitest";
import { readOptions } from "../../../scripts/dev/options.ts";

it("listens on 8787 and leaves storage to wrangler unless told otherwise", () => {
  expect(readOptions([], "/home/me")).toEqual({ port: 8787, storage: null });
});

it("sees a folder from where the user typed it", () => {
  expect(readOptions(["--port", "9000", "--persist-to", "data"], "/home/me")).toEqual({
    port: 9000,
    storage: "/home/me/data",
  });
  expect(readOptions(["--persist-to=/srv/data"], "/home/me").storage).toBe("/srv/data");
});

it.each(["0", "65536", "8787.5", "http", ""])("refuses the port %j", (port) => {
  expect(() => readOptions(["--port", port], "/")).toThrow(/1 to 65535/);
});

it("refuses an option that it does not know", () => {
  expect(() => readOptions(["--prot", "9000"], "/")).toThrow(/--prot/);
});
