/** Of daemon and protocol stubs; `npm run check` compares it with package.json. */
export const version = '0.1.0';
