import { ALLOWED_STATE } from "./checks/allowed-state.ts";
import { checkImportOrder } from "./checks/import-order.ts";
import { checkModuleState } from "./checks/module-state.ts";
import { checkPure } from "./checks/pure.ts";
import { readSources } from "./checks/source.ts";

/** Usage: `node scripts/check-structure.ts [folder]`. The folder holds `src/`; without it, the project is checked. */
const root = process.argv[2] ?? `${import.meta.dirname}/..`;
// The allow-list is the project's own.
const allowed = process.argv[2] === undefined ? ALLOWED_STATE : [];
const files = readSources(root, "src");
const problems = [...checkImportOrder(files), ...checkModuleState(files, allowed), ...checkPure(files)];

for (const { path, line, message } of problems) console.error(`${path}:${line} ${message}`);
if (problems.length === 0) console.log(`Checked the structure of ${files.length} files.`);
else
  console.error(
    `${problems.length} ${problems.length === 1 ? "violation" : "violations"} of the structure in CONTRIBUTING.md.`,
  );
process.exitCode = problems.length === 0 ? 0 : 1;
