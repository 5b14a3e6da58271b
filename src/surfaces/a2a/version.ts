/** The versions of the protocol that are spoken here. */
export type Version = "1.0" | "0.3";

/** JSON-RPC methods of 1.0; those of 0.3 have a slash. */
const V1_METHOD = /^[A-Z][A-Za-z]+$/;

/**
 * The version that a request is in, or the text of one that is not spoken here. `asked` is its `A2A-Version` (header or
 * query), of which a patch number does not matter. The specification has a request without one be 0.3; one that is
 * recognisably 1.0, by the name of its method, is taken for that, since it can be nothing else.
 */
export function versionOf(asked: string | undefined, method: unknown): Version | { readonly unknown: string } {
  const version = asked?.trim() ?? "";
  if (version === "") return typeof method === "string" && V1_METHOD.test(method) ? "1.0" : "0.3";
  const [, plain = version] = /^(\d+\.\d+)\.\d+$/.exec(version) ?? [];
  return plain === "1.0" || plain === "0.3" ? plain : { unknown: version };
}
