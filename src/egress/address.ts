/** Whether a host of a parsed URL is this machine itself, by name or by address. */
export function isLoopback(hostname: string): boolean {
  return bareName(hostname) === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/**
 * Whether a host of a parsed URL is one that only an operator's network can reach, as far as its text says. The URL
 * parser has already turned every spelling of an IPv4 address (decimal, octal, hexadecimal, short, full-width digits)
 * into four decimal numbers, and of an IPv6 address into its shortest form.
 */
export function isInternal(hostname: string): boolean {
  if (hostname.startsWith("[")) return !isGlobalIpv6(hostname.slice(1, -1));
  const octets = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(hostname)?.slice(1).map(Number);
  return octets ? isSpecialIpv4(octets) : isInternalName(bareName(hostname));
}

/** Names that public DNS does not answer, or that clouds give to their metadata servers. */
const INTERNAL_ZONES = [
  ...["localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "private"],
  ...["home.arpa", "in-addr.arpa", "ip6.arpa", "onion", "test", "invalid"],
];

/** A name without a dot is completed by the resolver's own search list. */
function isInternalName(name: string): boolean {
  return !name.includes(".") || INTERNAL_ZONES.some((zone) => name === zone || name.endsWith(`.${zone}`));
}

/** Blocks of IANA's special-purpose registry, multicast and reserved ones, and Azure's metadata server (168.63.129.16). */
const SPECIAL_IPV4: readonly (readonly [address: readonly number[], bits: number])[] = [
  [[0, 0, 0, 0], 8],
  [[10, 0, 0, 0], 8],
  [[100, 64, 0, 0], 10],
  [[127, 0, 0, 0], 8],
  [[168, 63, 129, 16], 32],
  [[169, 254, 0, 0], 16],
  [[172, 16, 0, 0], 12],
  [[192, 0, 0, 0], 24],
  [[192, 0, 2, 0], 24],
  [[192, 88, 99, 0], 24],
  [[192, 168, 0, 0], 16],
  [[198, 18, 0, 0], 15],
  [[198, 51, 100, 0], 24],
  [[203, 0, 113, 0], 24],
  [[224, 0, 0, 0], 3],
];

function isSpecialIpv4(octets: readonly number[]): boolean {
  return SPECIAL_IPV4.some(([block, bits]) => asNumber(octets) >>> (32 - bits) === asNumber(block) >>> (32 - bits));
}

function asNumber(octets: readonly number[]): number {
  return octets.reduce((number, octet) => number * 256 + octet, 0) >>> 0;
}

/**
 * Global unicast is 2000::/3. In it, 2001::/23 and 2002::/16 carry IPv4 addresses of anybody's choice (Teredo, 6to4)
 * or are special; 2001:db8::/32 and 3fff::/20 are documentation. All else is not for the public, among it ::1, ::,
 * IPv4-mapped and NAT64 addresses, fc00::/7 (so AWS's fd00:ec2::254) and fe80::/10.
 */
function isGlobalIpv6(address: string): boolean {
  const [first = 0, second = 0] = firstGroups(address);
  if (first < 0x2000 || first > 0x3fff) return false;
  if (first === 0x2002) return false;
  if (first === 0x2001 && (second < 0x200 || second === 0xdb8)) return false;
  return !(first === 0x3fff && second < 0x1000);
}

/** Two groups tell all that is asked; behind a `::` they are zero, or so far back that the first one decides. */
function firstGroups(address: string): number[] {
  const [head = ""] = address.split("::");
  return head.split(":").map((group) => Number.parseInt(group || "0", 16));
}

/** A name is the same with the dots of its root. */
export function bareName(hostname: string): string {
  return hostname.replace(/\.+$/, "");
}
