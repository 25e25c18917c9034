import { MeshError } from '../../core/base/errors.ts';

/** Where a device joins, and by what right. */
export interface Invitation {
  readonly server: string;
  readonly token: string;
}

const MAX_LINK_LENGTH = 2_048;

/** `mesh://join?server=<dashboard_url>&token=<join_token>`. The token in it is a secret. */
export function formatJoinLink({ server, token }: Invitation): string {
  return `mesh://join?${new URLSearchParams({ server, token })}`;
}

/** @throws MeshError `invalid_input` that never repeats the link: it holds a token */
export function parseJoinLink(text: string): Invitation {
  const url = text.length > MAX_LINK_LENGTH ? null : URL.parse(text);
  const [server, token] = [url?.searchParams.get('server'), url?.searchParams.get('token')];
  if (url?.protocol === 'mesh:' && url.host === 'join' && server && token === null && !text.includes('&')) {
    throw new MeshError(
      'invalid_input',
      'The join link ends before its token: a shell ends a command at &. Put the link in single quotes.',
    );
  }
  if (url?.protocol !== 'mesh:' || url.host !== 'join' || !server || !token) {
    throw new MeshError(
      'invalid_input',
      'This is no join link. It has the form mesh://join?server=<url>&token=<token>',
    );
  }
  return { server, token };
}

export function isJoinLink(text: string): boolean {
  return /^mesh:/i.test(text);
}
