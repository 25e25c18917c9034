/** A browser without scripts that fills in the forms of an issuer, until it is led to another place. */
export function issuerBrowser(fields: Readonly<Record<string, string>>) {
  const jar = new Map<string, string>();

  async function browse(address: string, form?: URLSearchParams): Promise<Response> {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(address, {
      redirect: 'manual',
      headers: { cookie, connection: 'close' },
      ...(form && { method: 'POST', body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** @returns the address that the issuer leads to in the end, which begins so */
  return async function signIn(address: string, until: string): Promise<string> {
    let [at, form]: [string, URLSearchParams | undefined] = [address, undefined];
    for (let steps = 0; steps < 12; steps += 1) {
      const response = await browse(at, form);
      const location = response.headers.get('location');
      const page = await response.text();
      if (location !== null) {
        [at, form] = [new URL(location, at).href, undefined];
        if (at.startsWith(until)) return at;
        continue;
      }
      const [, action] = /<form[^>]*action="([^"]+)"/.exec(page) ?? [];
      if (action === undefined) throw new Error(`${at} has no form (${response.status}): ${page.slice(0, 2_000)}`);
      at = new URL(action.replaceAll('&amp;', '&'), at).href;
      form = new URLSearchParams(fields);
      for (const [tag] of page.matchAll(/<input[^>]*type="hidden"[^>]*>/g)) {
        const [, name = ''] = /name="([^"]*)"/.exec(tag) ?? [];
        form.set(name, /value="([^"]*)"/.exec(tag)?.[1] ?? '');
      }
    }
    throw new Error(`The issuer leads from page to page, at last to ${at}.`);
  };
}
