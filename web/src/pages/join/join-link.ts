import { isLoopbackUrl } from '../../../../core/base/loopback.ts';

/** `mesh://join?server=…&token=…`. The token in it is a secret. */
export function joinLink(server: string, token: string): string {
  return `mesh://join?${new URLSearchParams({ server, token })}`;
}

/** The token of a link, which names the control plane itself. */
export function tokenIn(link: string): string {
  return new URL(link).searchParams.get('token') ?? '';
}

/**
 * Where a device reaches the control plane: as that says itself, unless it knows its own machine alone and this page was
 * opened by another address.
 */
export function serverFor(link: string, here = location.origin): string {
  const told = new URL(link).searchParams.get('server') ?? '';
  return isLoopbackUrl(told) && !isLoopbackUrl(here) ? here : told;
}
