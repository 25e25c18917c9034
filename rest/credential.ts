import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

const BEARER = /^Bearer +([\x21-\x7e]+)$/i;

/** The token of an Authorization header. */
export function bearerOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : BEARER.exec(header)?.[1];
}

/** Keeps a session in the browser of a person who asked for it at login. */
const COOKIE = 'mesh-session';
/** Browsers send it to the API alone: never to /mcp. */
const COOKIE_PATH = '/api/v1';
/** A session token is a JWT; no other credential is taken from a cookie. */
const COOKIE_VALUE = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** Set by the script of the dashboard. A form cannot, nor a page of another site: it would have to be allowed to (CORS). */
const PAGE_HEADER = 'x-mesh-page';

/**
 * The token that a request under /api/v1 is made with: that of `Authorization`, else that of the session cookie, which
 * counts for requests of the dashboard's own script alone.
 */
export function credentialOf({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  if (headers.authorization !== undefined) return bearerOf(headers.authorization);
  return isOwnPage(headers) ? sessionIn(headers.cookie) : undefined;
}

/**
 * Returns the session cookie. If the browser sends two, another server of this host or a sister of this site set one: neither
 * counts.
 */
function sessionIn(cookies = ''): string | undefined {
  const [value = '', ...others] = sessionsIn(cookies);
  return others.length === 0 && COOKIE_VALUE.test(value) ? value : undefined;
}

function sessionsIn(cookies: string): string[] {
  return valuesOf(COOKIE, cookies);
}

function valuesOf(name: string, cookies: string): string[] {
  const own = `${name}=`;
  return cookies.split(/; ?/).flatMap((one) => (one.startsWith(own) ? [one.slice(own.length)] : []));
}

/** True if the browser sends a session cookie, whoever set it. */
export function keepsSession({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return sessionsIn(headers.cookie ?? '').length > 0;
}

/** True if the request comes from the dashboard on this very origin (Fetch Metadata). */
export function isOwnPage(headers: IncomingMessage['headers']): boolean {
  return headers['sec-fetch-site'] === 'same-origin' && headers[PAGE_HEADER] === '1';
}

/** The Set-Cookie header that keeps a session until it ends (RFC 6265bis). */
export function cookieOf(request: IncomingMessage, session: { readonly token: string; readonly expiresAt: string }) {
  return setCookie(request, SESSION, session.token, new Date(session.expiresAt));
}

/** The Set-Cookie header that takes the session out of the browser. */
export function endedCookie(request: IncomingMessage): string {
  return setCookie(request, SESSION, '', new Date(0));
}

/** The key of a sign-in at an issuer, kept until the issuer leads back. The page that asks by it is of this very site. */
const KEY: Cookie = { name: 'mesh-sign-in', path: `${COOKIE_PATH}/users/login` };
const KEY_MS = 10 * 60_000;

/** Returns the key that the browser keeps. If it sends two, neither counts. */
export function browserKeyOf({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const [key, ...others] = isOwnPage(headers) ? valuesOf(KEY.name, headers.cookie ?? '') : [];
  return others.length === 0 ? key : undefined;
}

export function newBrowserKey({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  return isOwnPage(headers) ? randomBytes(32).toString('base64url') : undefined;
}

/** The Set-Cookie header that has the browser keep a key. */
export function keyCookie(request: IncomingMessage, key: string): string {
  return setCookie(request, KEY, key, new Date(Date.now() + KEY_MS));
}

export function endedKeyCookie(request: IncomingMessage): string {
  return setCookie(request, KEY, '', new Date(0));
}

interface Cookie {
  readonly name: string;
  readonly path: string;
}

const SESSION: Cookie = { name: COOKIE, path: COOKIE_PATH };

function setCookie(request: IncomingMessage, { name, path }: Cookie, value: string, expires: Date): string {
  const attributes = [`Path=${path}`, `Expires=${expires.toUTCString()}`, 'HttpOnly', 'SameSite=Strict'];
  return [`${name}=${value}`, ...attributes, ...(isSecure(request) ? ['Secure'] : [])].join('; ');
}

/** Over TLS, to here or to a proxy that is trusted to say so (`secure` of express). */
function isSecure(request: IncomingMessage & { readonly secure?: boolean }): boolean {
  return request.secure ?? Boolean((request.socket as Partial<TLSSocket>).encrypted);
}
