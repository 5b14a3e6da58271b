import { crowd } from "./crowd.ts";

// A thousand of them live and end in `npm run test:long`, which also waits until their objects are put away.
crowd(12, false);
