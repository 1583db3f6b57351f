/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a virtual BMC answers: status, headers, body, and the messages of Redfish's Base
 * registry (and of some vendors) that say why.
 */
#ifndef BU_LAB_BMC_REPLY_H
#define BU_LAB_BMC_REPLY_H

#include <jansson.h>

struct bu_bmc_reply {
	int status;
	json_t *headers;  /* name to value */
	json_t *body;     /* NULL = none, or text */
	const char *text; /* static */
	const char *type; /* of the text */
};

/* id, MessageId, HTTP status, severity, text with %1 to %3, what to do */
#define BU_BMC_MESSAGES(X)                                                             \
	X(SUCCESS, "Base.1.13.Success", 200, "OK",                                     \
	  "The request completed successfully.", "None.")                              \
	X(CREATED, "Base.1.13.Created", 201, "OK",                                     \
	  "The resource was created successfully.", "None.")                           \
	X(PASSWORD_CHANGE, "Base.1.13.PasswordChangeRequired", 403, "Critical",        \
	  "The password provided for this account must be changed before access is "   \
	  "granted. PATCH the Password property for this account located at the "      \
	  "target URI '%1' to complete this process.",                                 \
	  "Change the password with a PATCH of the account.")                          \
	X(NO_SESSION, "Base.1.13.NoValidSession", 401, "Critical",                     \
	  "There is no valid session established with the implementation.",            \
	  "Establish a session before attempting any operations.")                     \
	X(DENIED, "Base.1.13.InsufficientPrivilege", 403, "Critical",                  \
	  "There are insufficient privileges for the account or credentials "          \
	  "associated with the current session to perform the requested operation.",   \
	  "Use an account with the needed privileges.")                                \
	X(SESSIONS, "Base.1.13.SessionLimitExceeded", 503, "Critical",                 \
	  "The session establishment failed due to the number of simultaneous "        \
	  "sessions exceeding the limit of the implementation.",                       \
	  "Delete sessions that are no longer in use.")                                \
	X(RAC0218, "IDRAC.2.8.RAC0218", 503, "Warning",                                \
	  "The maximum number of user sessions is reached.",                           \
	  "Close some sessions, then log in again.")                                   \
	X(MISSING, "Base.1.13.ResourceMissingAtURI", 404, "Critical",                  \
	  "The resource at the URI '%1' was not found.",                               \
	  "Place a valid resource at the URI or correct the URI.")                     \
	X(NO_ACTION, "Base.1.13.ActionNotSupported", 404, "Critical",                  \
	  "The action '%1' is not supported by the resource.",                         \
	  "See the Actions of the resource.")                                          \
	X(METHOD, "Base.1.13.OperationNotAllowed", 405, "Critical",                    \
	  "The HTTP method is not allowed on this resource.",                          \
	  "See the Allow header for what is.")                                         \
	X(ACCEPT, "Base.1.13.HeaderInvalid", 406, "Critical",                          \
	  "The Accept header '%1' has nothing that this resource can be sent as.",     \
	  "Accept application/json.")                                                  \
	X(ODATA_VERSION, "Base.1.13.HeaderInvalid", 412, "Critical",                   \
	  "OData-Version '%1' is not supported.", "Send OData-Version 4.0.")           \
	X(QUERY, "Base.1.13.QueryNotSupported", 501, "Warning",                        \
	  "The query parameter '%1' is not supported.", "Leave it out.")               \
	X(LENGTH, "Base.1.13.HeaderMissing", 411, "Critical",                          \
	  "The Content-Length header is missing from the request.",                    \
	  "Send the length of the body.")                                              \
	X(MEDIA_TYPE, "Base.1.13.HeaderInvalid", 415, "Critical",                      \
	  "The Content-Type '%1' is not supported.",                                   \
	  "Send the body as application/json.")                                        \
	X(MALFORMED, "Base.1.13.MalformedJSON", 400, "Critical",                       \
	  "The request body submitted was malformed JSON and could not be parsed by "  \
	  "the receiving service.",                                                    \
	  "Send one JSON object.")                                                     \
	X(NO_OPERATION, "Base.1.13.NoOperation", 400, "Warning",                       \
	  "The request body submitted contain no data to act upon and no changes to "  \
	  "the resource took place.",                                                  \
	  "Add properties to the body.")                                               \
	X(UNKNOWN, "Base.1.13.PropertyUnknown", 400, "Warning",                        \
	  "The property '%1' is not in the list of valid properties for the "          \
	  "resource.",                                                                 \
	  "Remove the unknown property from the request body.")                        \
	X(READ_ONLY, "Base.1.13.PropertyNotWritable", 400, "Warning",                  \
	  "The property '%1' is a read-only property and cannot be assigned a value.", \
	  "Remove the property from the request body.")                                \
	X(PROPERTY, "Base.1.13.PropertyMissing", 400, "Warning",                       \
	  "The property '%1' is a required property and must be included in the "      \
	  "request.",                                                                  \
	  "Include the required property.")                                            \
	X(TYPE, "Base.1.13.PropertyValueTypeError", 400, "Warning",                    \
	  "The value '%2' for the property '%1' is of a different type than the "      \
	  "property can accept.",                                                      \
	  "Correct the value.")                                                        \
	X(VALUE, "Base.1.13.PropertyValueNotInList", 400, "Warning",                   \
	  "The value '%2' for the property '%1' is not in the list of acceptable "     \
	  "values.",                                                                   \
	  "Choose a value from the list.")                                             \
	X(PARAMETER, "Base.1.13.ActionParameterMissing", 400, "Critical",              \
	  "The action '%2' requires the parameter '%1' to be present in the request "  \
	  "body.",                                                                     \
	  "Supply the parameter.")                                                     \
	X(PARAMETER_UNKNOWN, "Base.1.13.ActionParameterUnknown", 400, "Warning",       \
	  "The action '%2' was submitted with the invalid parameter '%1'.",            \
	  "Remove the parameter.")                                                     \
	X(PARAMETER_VALUE, "Base.1.13.ActionParameterValueNotInList", 400, "Warning",  \
	  "The value '%2' for the parameter '%1' is not in the list of acceptable "    \
	  "values.",                                                                   \
	  "Choose a value from the list.")                                             \
	X(CONFLICT, "Base.1.13.ActionParameterValueConflict", 409, "Warning",          \
	  "The parameter '%1' with the requested value of '%2' does not meet the "     \
	  "constraints of the implementation at this time.",                           \
	  "Wait, then try again.")                                                     \
	X(NO_MATCH, "Base.1.13.PreconditionFailed", 412, "Critical",                   \
	  "The ETag supplied did not match the current ETag of the resource.",         \
	  "Get the resource again and use its ETag.")                                  \
	X(NO_IF_MATCH, "Base.1.13.PreconditionRequired", 428, "Critical",              \
	  "A precondition header is required to change this resource.",                \
	  "Send If-Match with the current ETag.")                                      \
	X(AMI_IF_MATCH, "Ami.1.0.PreconditionHeaderMissing", 428, "Critical",          \
	  "The If-Match header is missing from the request.",                          \
	  "Send If-Match with the current ETag.")                                      \
	X(AMI_FUTURE, "Ami.1.0.OperationSupportedInFutureStateURI", 400, "Warning",    \
	  "The property '%1' can be changed at the future state URI '%2' only.",       \
	  "PATCH it there.")                                                           \
	X(ILO_POST, "iLO.2.14.UnableToModifyDuringSystemPOST", 400, "Warning",         \
	  "The change could not be made because the system is in POST.",               \
	  "Wait until POST is complete, then try again.")                              \
	X(BUSY, "Base.1.13.ServiceTemporarilyUnavailable", 503, "Critical",            \
	  "The service is temporarily unavailable. Retry in %1 seconds.",              \
	  "Wait, then try again.")                                                     \
	X(EXISTS, "Base.1.13.ResourceAlreadyExists", 400, "Critical",                  \
	  "The requested resource of type %1 with the property %2 with the value "     \
	  "'%3' already exists.",                                                      \
	  "Choose another value.")                                                     \
	X(NOT_DELETED, "Base.1.13.ResourceCannotBeDeleted", 403, "Critical",           \
	  "The resource at the URI '%1' cannot be deleted.", "None.")                  \
	X(PENDING, "Base.1.13.SettingsPendingAlready", 503, "Warning",                 \
	  "Changes are committed already and wait for the next reset.",                \
	  "Reset the system first.")                                                   \
	X(INTERNAL, "Base.1.13.InternalError", 500, "Critical",                        \
	  "The request failed due to an internal service error: %1",                   \
	  "Look at the messages of bringup-lab bmc.")

enum bu_bmc_message {
#define X(id, name, status, severity, text, todo) BU_BMC_##id,
	BU_BMC_MESSAGES(X)
#undef X
};

void bu_bmc_header(struct bu_bmc_reply *reply, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The message as Redfish writes it; property ("/Boot/X") may be NULL. New reference. */
json_t *bu_bmc_message(enum bu_bmc_message id, const char *property,
		       const char *const args[3]);
/* Adds it to the error body; the first one gives the status. */
void bu_bmc_refuse_at(struct bu_bmc_reply *reply, enum bu_bmc_message id,
		      const char *property, const char *const args[3]);
#define bu_bmc_refuse(reply, id, ...)                                                  \
	bu_bmc_refuse_at(reply, id, NULL, (const char *const[3]){__VA_ARGS__})
void bu_bmc_reply_free(struct bu_bmc_reply *reply);

#endif
