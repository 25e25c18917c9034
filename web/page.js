import { kept } from './api.js';

export const $ = (selector) => document.querySelector(selector);
const sections = document.querySelectorAll('main > section');

/**
 * An element with text and elements in it; a string becomes text. What is shown comes from users, nodes and models: it is
 * set as text, never as markup.
 */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

export const time = (instant) => element('time', { dateTime: instant }, new Date(instant).toLocaleString());
export const risk = (level) => element('span', { className: `risk ${level}` }, `${level} risk`);

export function say(text) {
  $('#message').textContent = text;
  $('#problem').textContent = '';
}

export function sayProblem(text) {
  $('#message').textContent = '';
  $('#problem').textContent = text;
}

/** Shows one section and moves the focus to its heading, unless it is already there. */
export function show(id) {
  $('#session').hidden = !kept('token');
  const section = $(`#${id}`);
  if (!section.hidden) return;
  for (const other of sections) other.hidden = other !== section;
  section.querySelector('h1').focus();
}
