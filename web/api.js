/** This tab's session: gone when the tab is closed. */
export const kept = (key) => sessionStorage.getItem(`mesh.${key}`) ?? '';
export const keep = (key, value) => sessionStorage.setItem(`mesh.${key}`, value);

/** An answer that refuses, as the API describes it. */
export class Problem extends Error {
  constructor({ title, detail, code, status, errors = [] }) {
    const fields = errors.filter((field) => !detail.includes(field.detail));
    super([`${title}: ${detail}`, ...fields.map((field) => `${field.pointer}: ${field.detail}`)].join(' '));
    this.code = code;
    this.status = status;
  }
}

export async function api(method, path, { body, workspace } = {}) {
  const headers = { accept: 'application/json' };
  if (kept('token')) headers.authorization = `Bearer ${kept('token')}`;
  if (workspace) headers['x-workspace-id'] = workspace;
  if (body) headers['content-type'] = 'application/json';
  const request = { method, headers, body: body && JSON.stringify(body), cache: 'no-store' };
  const response = await fetch(`/api/v1${path}`, request).catch(() => undefined);
  if (!response) throw new Problem({ title: 'Not reachable', detail: 'The control plane does not answer: try again.' });
  const answer = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  const { status } = response;
  throw new Problem(answer?.title ? answer : { title: 'Unexpected answer', detail: `HTTP ${status}.`, status });
}

/** The same in the workspace that was chosen. */
export const here = (method, path, body) => api(method, path, { body, workspace: kept('workspace') });
