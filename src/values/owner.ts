/** Who calls. Everything that is stored belongs to exactly one owner. Made by an authenticator (`http/auth.ts`). */
export interface Owner {
  readonly id: string;
  readonly name: string;
  readonly roles: readonly string[];
}
