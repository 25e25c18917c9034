import { signal } from '@preact/signals';

/** The revision of MCP Apps that is spoken: JSON-RPC 2.0 by postMessage with the window around this one. */
const PROTOCOL = '2026-01-26';
const VIEW = { name: 'mesh', version: '1' };
const METHOD_NOT_FOUND = -32_601;

type Fields = Readonly<Record<string, unknown>>;

/** What a tool answered, as the client received it. */
export interface ToolAnswer {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Fields;
  readonly isError?: boolean;
  readonly _meta?: Fields;
}

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Fields;
  readonly result?: Fields;
  readonly error?: { readonly message?: unknown };
}

interface Host {
  readonly hostCapabilities?: { readonly openLinks?: object };
  readonly hostContext?: Fields;
}

export const args = signal<Fields>({});
export const answered = signal<ToolAnswer | undefined>(undefined);
export const isCancelled = signal(false);
/** Whether the host opens addresses in the browser. */
export const opensLinks = signal(false);

let lastId = 0;
const asked = new Map<string | number, PromiseWithResolvers<Fields>>();

/** Tells the host that the view is there, and from then on how large it is; what the host tells is in the signals here. */
export async function meetHost(): Promise<void> {
  addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
    if (source === parent && parent !== window && isMessage(data)) receive(data);
  });
  const params = { appInfo: VIEW, appCapabilities: { availableDisplayModes: ['inline'] }, protocolVersion: PROTOCOL };
  const { hostCapabilities, hostContext = {} } = (await request('ui/initialize', params)) as Host;
  opensLinks.value = hostCapabilities?.openLinks !== undefined;
  follow(hostContext);
  notify('ui/notifications/initialized', {});
  new ResizeObserver(tellSize).observe(document.documentElement);
}

/** @throws Error when the host does not open it */
export async function openLink(url: string): Promise<void> {
  const { isError } = await request('ui/open-link', { url });
  if (isError) throw new Error('The host did not open it.');
}

/** The only requests that there are: a view asks for no tool and no resource. */
function request(method: 'ui/initialize' | 'ui/open-link', params: Fields): Promise<Fields> {
  const id = ++lastId;
  const answer = Promise.withResolvers<Fields>();
  asked.set(id, answer);
  post({ id, method, params });
  return answer.promise;
}

function notify(method: string, params: Fields): void {
  post({ method, params });
}

/** To whatever shows the view: its origin is not known, and nothing is told that it has not told before. */
function post(message: Fields): void {
  parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
}

function isMessage(data: unknown): data is Message {
  return typeof data === 'object' && data !== null && (data as Message).jsonrpc === '2.0';
}

function receive({ id, method, params = {}, result, error }: Message): void {
  if (method === undefined) {
    const answer = id === undefined ? undefined : asked.get(id);
    if (id !== undefined) asked.delete(id);
    if (error) answer?.reject(new Error(String(error.message)));
    else answer?.resolve(result ?? {});
  } else if (id !== undefined) {
    const isKnown = method === 'ping' || method === 'ui/resource-teardown';
    post(isKnown ? { id, result: {} } : { id, error: { code: METHOD_NOT_FOUND, message: 'There is no such method.' } });
  } else {
    hear(method, params);
  }
}

function hear(method: string, params: Fields): void {
  switch (method) {
    case 'ui/notifications/tool-input':
      args.value = (params['arguments'] as Fields | undefined) ?? {};
      break;
    case 'ui/notifications/tool-result':
      answered.value = params;
      break;
    case 'ui/notifications/tool-cancelled':
      isCancelled.value = true;
      break;
    case 'ui/notifications/host-context-changed':
      follow(params);
      break;
    default:
  }
}

/** Of what surrounds the view only the theme is taken: colours of others would not keep their contrast. */
function follow({ theme }: Fields): void {
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
}

function tellSize(): void {
  const { height } = document.documentElement.getBoundingClientRect();
  notify('ui/notifications/size-changed', { width: innerWidth, height: Math.ceil(height) });
}
