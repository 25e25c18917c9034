import { signal } from '@preact/signals';
import { replaceAddress } from '../route/route.ts';
import { answer, api } from './client.ts';
import { Problem } from './problem.ts';
import { browserName, enter } from './sign-in.ts';

export interface Issuer {
  readonly name: string;
  readonly title: string;
}

/** Why an issuer signed nobody in, shown where people sign in. */
export const issuerProblem = signal<Problem | undefined>(undefined);

/** Where issuers lead back to; the name of the issuer follows. */
const PATH = '/sign-in/';
/** The page to go on with, and whether the browser keeps the session: nothing that lets one in. */
const GO_ON = 'mesh-sign-in';

export interface Issuers {
  readonly issuers: readonly Issuer[];
  /** Whether passwords let people in too. */
  readonly passwords: boolean;
}

export async function readIssuers(): Promise<Issuers> {
  return answer(api.GET('/api/v1/users/login/issuers'));
}

/** Leaves the dashboard for an issuer. */
export async function signInBy({ name }: Issuer, staySignedIn: boolean): Promise<void> {
  const params = { path: { name } };
  const body = { origin: location.origin };
  const { url } = await answer(api.POST('/api/v1/users/login/issuers/{name}/begin', { params, body }));
  sessionStorage.setItem(GO_ON, JSON.stringify([location.hash, staySignedIn]));
  location.assign(url);
}

/** Goes on where an issuer led back. What it says stays neither in the address nor in the history. */
export async function finishSignIn(): Promise<void> {
  const { pathname, search } = location;
  if (!pathname.startsWith(PATH)) return;
  const [hash, staySignedIn] = takeGoOn();
  history.replaceState(null, '', '/');
  if (hash !== '') replaceAddress(hash);
  try {
    const params = { path: { name: pathname.slice(PATH.length) } };
    const body = { query: search, client: browserName(), ...(staySignedIn && { staySignedIn }) };
    const call = api.POST('/api/v1/users/login/issuers/{name}/finish', { params, body });
    await enter({ ...(await answer(call)), staySignedIn });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    issuerProblem.value = error;
  }
}

function takeGoOn(): [hash: string, staySignedIn: boolean] {
  const kept = sessionStorage.getItem(GO_ON);
  sessionStorage.removeItem(GO_ON);
  try {
    const [hash, staySignedIn] = JSON.parse(kept ?? '') as [unknown, unknown];
    return [typeof hash === 'string' && hash.startsWith('#') ? hash : '', staySignedIn === true];
  } catch {
    return ['', false];
  }
}
