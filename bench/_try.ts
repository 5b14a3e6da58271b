import { startAnthropicEmulator, say } from "../test/emulators/anthropic/index.ts";
import { floorContender, holdfastContender, peerContender } from "./turn/contenders.ts";
import { median } from "./lib/stats.ts";
const e = await startAnthropicEmulator({ answer: (r) => say("x".repeat(43)) });
const all = [await floorContender(e.url), await holdfastContender(e.url, false), await peerContender(e.url)];
const res: number[][] = [[],[],[]]; const firsts: number[][] = [[],[],[]];
for (let i=0;i<45;i++) for (const [k,c] of all.entries()) { const t = await c!.say("s1", "hello number "+i); if (i>=10) {res[k]!.push(t.whole); firsts[k]!.push(t.first);} }
console.log(res.map(median), firsts.map(median), e.requests.length, e.requests.filter(r=>r.status!==200).map(r=>r.error));
for (const k of [0,1,2]) console.log(e.requests.at(-3+k)!.bodyText.length, e.requests.at(-3+k)!.bodyText.slice(0,300));
await Promise.all(all.map(c=>c!.dispose())); await e.close();
