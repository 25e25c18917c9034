import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

/** A client with MCP Apps, as far as its page goes: the official bridge to a view in a sandbox of another origin. */
const opened = [];
const heard = [];
let bridge;

addEventListener('message', ({ data }) => heard.push(data.method ?? 'answer'));

/** Shows a view in a frame of its own, and settles once it is there. */
async function show({ sandbox, html, theme, capabilities, refuses = false }) {
  document.querySelector('iframe')?.remove();
  const frame = document.createElement('iframe');
  frame.title = 'Answer';
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin');
  frame.src = sandbox;
  document.querySelector('main').append(frame);
  bridge = new AppBridge(null, { name: 'host', version: '1' }, capabilities, { hostContext: { theme } });
  const ready = new Promise((resolve) => {
    bridge.onsandboxready = resolve;
  });
  const initialized = new Promise((resolve) => {
    bridge.oninitialized = resolve;
  });
  bridge.onopenlink = async ({ url }) => {
    opened.push(url);
    return { isError: refuses };
  };
  bridge.onsizechange = ({ height }) => {
    frame.style.height = `${height}px`;
  };
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await ready;
  await bridge.sendSandboxResourceReady({ html, sandbox: 'allow-scripts' });
  await initialized;
}

globalThis.host = {
  show,
  opened,
  heard,
  input: (args) => bridge.sendToolInput({ arguments: args }),
  result: (answer) => bridge.sendToolResult(answer),
  cancel: () => bridge.sendToolCancelled({ reason: 'taken back' }),
  theme: (theme) => bridge.setHostContext({ theme }),
  leave: () => bridge.teardownResource({}),
  /** What somebody sends who is not the window around the view. */
  forge: (message) => frames[0].frames[0].postMessage(message, '*'),
};
