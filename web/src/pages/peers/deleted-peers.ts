import { linkTo } from '../../route/route.ts';

/** As the control plane takes names. */
const PEER_NAME = /^[A-Za-z0-9._-]{1,63}$/;

/** The page of a peer, which tells when one of this name was deleted and by whom; undefined for what is no name. */
export function lookAmongDeleted(name: string): { readonly text: string; readonly href: string } | undefined {
  if (!PEER_NAME.test(name)) return undefined;
  return { text: `${name}: look among deleted peers`, href: linkTo('peers', [name]) };
}
