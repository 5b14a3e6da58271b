/** What a tool returns that changes the session's mode: `text` is its result, the mode holds from the next request on. */
export class ModeSwitch {
  readonly mode: string;
  readonly text: string;
  constructor(mode: string, text: string) {
    this.mode = mode;
    this.text = text;
  }
}
