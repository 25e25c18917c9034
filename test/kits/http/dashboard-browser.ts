import type { ApiAnswer, Harness } from './harness.ts';

/** A browser that the dashboard's own script runs in: it keeps the cookies of the API. */
export function dashboardBrowser({ url, api }: Pick<Harness, 'url' | 'api'>) {
  const cookies = new Map<string, string>();
  const setCookies: string[] = [];

  async function post(
    route: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiAnswer> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const own = { 'sec-fetch-site': 'same-origin', 'x-mesh-page': '1', ...(cookie !== '' && { cookie }) };
    const answer = await api('POST', route, { headers: { ...own, ...headers }, body });
    for (const line of answer.headers.getSetCookie()) {
      setCookies.push(line);
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  }

  return {
    cookies,
    /** Every line that asked for a cookie to be kept or forgotten. */
    setCookies,
    post,

    begin: (name: string, origin = url, headers = {}) =>
      post(`/api/v1/users/login/issuers/${name}/begin`, { origin }, headers),

    finish: (name: string, query: string, more: object = {}) =>
      post(`/api/v1/users/login/issuers/${name}/finish`, { query, ...more }),
  };
}
