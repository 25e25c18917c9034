/** Whether an address is reached from its own machine alone. */
export function isLoopback(server: string): boolean {
  const { hostname = '' } = URL.parse(server) ?? {};
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
